#include "hal/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace baton::hal {
namespace {

Status system_failure(std::string_view what, const std::string& path) {
  const StatusCode code = errno == ENOENT   ? StatusCode::kNotFound
                          : errno == EACCES ? StatusCode::kPermissionDenied
                          : errno == ENOSPC ? StatusCode::kResourceExhausted
                                            : StatusCode::kUnavailable;
  return failure(code, "Cannot ", what, " '", path, "': ", std::strerror(errno), ".");
}

}  // namespace

Result<Ref<File>> File::open(const std::string& path, FileMode mode) {
  const int flags = mode == FileMode::kRead        ? O_RDONLY
                    : mode == FileMode::kReadWrite ? O_RDWR
                                                   : O_RDWR | O_CREAT | O_TRUNC;
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (descriptor < 0) return system_failure("open", path);
  return make_ref<File>(descriptor, path);
}

File::~File() { ::close(descriptor_); }

Result<uint64_t> File::length() const {
  struct stat facts;
  if (::fstat(descriptor_, &facts) != 0) return system_failure("look at", path_);
  return static_cast<uint64_t>(facts.st_size);
}

Status File::read(uint64_t offset, std::span<std::byte> target) const {
  for (size_t done = 0; done < target.size();) {
    const ssize_t count =
        ::pread(descriptor_, target.data() + done, target.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("read", path_);
    if (count == 0) {
      return failure(StatusCode::kOutOfRange, "File read [", offset, ", ", offset + target.size(), ") of '", path_,
                     "' ends beyond the end of the file (", offset + done, ").");
    }
    done += static_cast<size_t>(count);
  }
  return {};
}

Status File::write(uint64_t offset, std::span<const std::byte> source) const {
  for (size_t done = 0; done < source.size();) {
    const ssize_t count =
        ::pwrite(descriptor_, source.data() + done, source.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("write", path_);
    done += static_cast<size_t>(count);
  }
  return {};
}

}  // namespace baton::hal
