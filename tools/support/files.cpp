#include "tools/support/files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

StatusCode code_of(int error) {
  switch (error) {
    case ENOENT: return StatusCode::kNotFound;
    case EACCES: return StatusCode::kPermissionDenied;
    default: return StatusCode::kUnavailable;
  }
}

Result<std::vector<std::byte>> read_all(std::FILE* file, std::string_view name) {
  std::vector<std::byte> bytes;
  size_t size = 0;
  do {
    bytes.resize(size + (size_t{64} << 10));
    const size_t got = std::fread(bytes.data() + size, 1, bytes.size() - size, file);
    size += got;
  } while (size == bytes.size());
  if (std::ferror(file)) return failure(code_of(errno), "'", name, "' could not be read (", std::strerror(errno), ")");
  bytes.resize(size);
  return bytes;
}

// Whether everything arrived, at the latest when the file is closed.
bool write_all(std::FILE* file, std::span<const std::byte> bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && written;
}

// A pipe or a device cannot be replaced by a rename, and holds nothing that a failure could spoil.
bool is_plain_or_absent(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode);
}

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path) {
  if (path == "-") return read_all(stdin, "standard input");
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return failure(code_of(errno), "'", path, "' could not be opened (", std::strerror(errno), ")");
  return read_all(file.get(), path);
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  if (path == "-") {
    print(text_of(bytes));
    return Status();
  }
  const bool replace = is_plain_or_absent(path);
  const std::string written = replace ? text(path, ".", static_cast<uint64_t>(getpid()), ".part") : path;
  std::FILE* file = std::fopen(written.c_str(), "wb");
  const bool complete = file && write_all(file, bytes);
  if (complete && (!replace || std::rename(written.c_str(), path.c_str()) == 0)) return Status();
  const int error = errno;
  if (file && replace) std::remove(written.c_str());
  return failure(code_of(error), "'", path, "' could not be written (", std::strerror(error), ")");
}

}  // namespace baton::tools
