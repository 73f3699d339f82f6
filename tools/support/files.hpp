// Files as tools read and write them: `-` is standard input or output, and a file appears whole or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace baton::tools {

Result<std::vector<std::byte>> read_file(const std::string& path);

// Writes beside the target under another name, then renames: a failure leaves what was there before.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace baton::tools
