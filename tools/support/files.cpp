#include "tools/support/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

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

Status file_failure(std::string_view name, std::string_view verb, int error) {
  return failure(code_of(error), "'", name, "' could not be ", verb, " (", std::strerror(error), ")");
}

// A device that gives bytes as often as it is asked, as /dev/zero does. A terminal ends when its user says so, /dev/null at once.
bool is_endless(int descriptor) {
  struct stat about;
  std::byte first;
  if (fstat(descriptor, &about) != 0 || !S_ISCHR(about.st_mode) || isatty(descriptor)) return false;
  return read(descriptor, &first, 1) == 1;
}

Result<std::vector<std::byte>> read_all(std::FILE* file, std::string_view name) {
  if (is_endless(fileno(file))) {
    return failure(StatusCode::kInvalidArgument, "'", name,
                   "' is a device that has no end; a file or a pipe can be read");
  }
  std::vector<std::byte> bytes;
  size_t size = 0;
  do {
    bytes.resize(size + (size_t{64} << 10));
    const size_t got = std::fread(bytes.data() + size, 1, bytes.size() - size, file);
    size += got;
  } while (size == bytes.size());
  if (std::ferror(file)) return file_failure(name, "read", errno);
  bytes.resize(size);
  return bytes;
}

// A pipe or a device cannot be replaced by a rename, and holds nothing that a failure could spoil.
bool is_plain_or_absent(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode);
}

// The bytes of the plain file behind `descriptor`; none when it is something else, which has to be read.
std::span<std::byte> map_plain(int descriptor) {
  struct stat about;
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0) return {};
  const auto size = static_cast<size_t>(about.st_size);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED) return {};
  return {static_cast<std::byte*>(memory), size};
}

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path) {
  if (path == "-") return read_all(stdin, "standard input");
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return file_failure(path, "opened", errno);
  return read_all(file.get(), path);
}

Result<SharedBytes> map_file(const std::string& path) {
  const File file(path == "-" ? nullptr : std::fopen(path.c_str(), "rb"));
  if (!file && path != "-") return file_failure(path, "opened", errno);
  const std::span<std::byte> mapped = file ? map_plain(fileno(file.get())) : std::span<std::byte>();
  if (!mapped.empty()) {
    const size_t size = mapped.size();
    return SharedBytes{mapped, std::shared_ptr<void>(mapped.data(), [size](void* memory) { munmap(memory, size); })};
  }
  // From the same opening: who writes into a pipe would find it closed, and nobody writes to the second.
  BATON_TRY_ASSIGN(std::vector<std::byte> bytes, file ? read_all(file.get(), path) : read_file(path));
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return SharedBytes{*owner, owner};
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file(path);
  file.is_ours_ = is_plain_or_absent(path);
  file.written_ = file.is_ours_ ? text(path, ".", static_cast<uint64_t>(getpid()), ".part") : path;
  file.descriptor_ = open(file.written_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.descriptor_ < 0) return file.fail(errno);
  return file;
}

Result<OutputFile> OutputFile::append_to(const std::string& path) {
  OutputFile file(path);
  file.written_ = path;
  file.is_ours_ = access(path.c_str(), F_OK) != 0;
  file.descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file.descriptor_ < 0) return file.fail(errno);
  if (is_plain_or_absent(path)) file.old_length_ = lseek(file.descriptor_, 0, SEEK_END);
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      written_(std::move(other.written_)),
      is_ours_(other.is_ours_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      old_length_(other.old_length_) {}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  take_back();
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status OutputFile::finish() {
  // Some disks tell only here that they are full.
  const bool is_whole = close(std::exchange(descriptor_, -1)) == 0;
  if (is_whole && (written_ == path_ || std::rename(written_.c_str(), path_.c_str()) == 0)) return {};
  const int error = errno;
  take_back();
  return fail(error);
}

Status OutputFile::fail(int error) const { return file_failure(path_, "written", error); }

void OutputFile::take_back() {
  if (is_ours_) {
    std::remove(written_.c_str());
  } else if (old_length_ >= 0) {
    static_cast<void>(!truncate(written_.c_str(), old_length_));
  }
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  if (path == "-") {
    print(text_of(bytes));
    return Status();
  }
  BATON_TRY_ASSIGN(OutputFile file, OutputFile::create(path));
  BATON_TRY(file.write(bytes));
  return file.finish();
}

}  // namespace baton::tools
