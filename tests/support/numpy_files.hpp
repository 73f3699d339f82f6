// NumPy's files for tests: arrays, and archives of them: members one behind the other, then their directory.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace baton::testing_support {

inline void append_little_endian(std::string& target, uint64_t number, int width) {
  for (int i = 0; i < width; ++i) target += static_cast<char>(number >> (8 * i) & 0xff);
}

// `method` 0 stores; others only claim to pack.
inline std::string zip_file(std::initializer_list<std::pair<std::string_view, std::string>> members,
                            uint16_t method = 0) {
  std::string file, directory;
  for (const auto& [name, data] : members) {
    const size_t start = file.size();
    file.append("PK\3\4", 4).append(22, '\0');
    append_little_endian(file, name.size(), 2);
    append_little_endian(file, 0, 2);
    file.append(name).append(data);
    directory.append("PK\1\2", 4).append(6, '\0');
    append_little_endian(directory, method, 2);
    directory.append(8, '\0');
    append_little_endian(directory, data.size(), 4);
    append_little_endian(directory, data.size(), 4);
    append_little_endian(directory, name.size(), 2);
    directory.append(12, '\0');
    append_little_endian(directory, start, 4);
    directory.append(name);
  }
  const size_t at = file.size();
  file += directory;
  file.append("PK\5\6", 4).append(4, '\0');
  append_little_endian(file, members.size(), 2);
  append_little_endian(file, members.size(), 2);
  append_little_endian(file, directory.size(), 4);
  append_little_endian(file, at, 4);
  append_little_endian(file, 0, 2);
  return file;
}

// As numpy.save writes it.
inline std::string npy_file(std::string_view dictionary, std::string_view elements) {
  std::string file("\x93NUMPY\x01\0", 8);
  append_little_endian(file, dictionary.size(), 2);
  return file.append(dictionary).append(elements);
}

}  // namespace baton::testing_support
