// Files as tools read and write them: `-` is standard input or output, and a file appears whole or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace baton::tools {

Result<std::vector<std::byte>> read_file(const std::string& path);

// Bytes and who keeps them.
struct SharedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// A plain file is mapped, not read: its bytes cost memory when they are touched. They may be written too, which changes
// the memory and never the file.
Result<SharedBytes> map_file(const std::string& path);

// A file that is being written. Plain files are written beside their name and get it in finish(): a failure, or no
// finish(), leaves what was there before. Pipes and devices are written as they are.
// Threads: externally synchronized.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);
  // Adds to what is there; a failure takes back what was added. A file that is missing is created.
  static Result<OutputFile> append_to(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Status write(std::span<const std::byte> bytes);
  Status finish();

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  Status fail(int error) const;
  void take_back();

  std::string path_;
  std::string written_;      // Where the bytes go until finish(); the path itself when they go there.
  bool is_ours_ = false;     // It was not there before.
  int descriptor_ = -1;      // -1: finished, or moved from.
  int64_t old_length_ = -1;  // What append_to() found; -1 otherwise.
};

// All at once.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace baton::tools
