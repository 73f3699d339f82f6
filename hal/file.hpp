// File: bytes on disk that a queue reads into and writes from buffers.
//
// Threads: internally synchronized; reads and writes state their own position.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/ref.hpp"
#include "base/result.hpp"

namespace baton::hal {

enum class FileMode { kRead, kReadWrite, kCreate };

class File final : public RefCounted<File> {
 public:
  static Result<Ref<File>> open(const std::string& path, FileMode mode);
  // Takes the descriptor over.
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~File();

  Result<uint64_t> length() const;
  // All of `target` is filled, or the status says what is missing.
  Status read(uint64_t offset, std::span<std::byte> target) const;
  Status write(uint64_t offset, std::span<const std::byte> source) const;

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace baton::hal
