#include "bytecode/module_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "bytecode/module_view.hpp"

namespace baton::bytecode {
namespace {

constexpr std::align_val_t kAlignment{kRodataAlignment};

StatusCode code_of_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return StatusCode::kNotFound;
    case EACCES:
    case EPERM: return StatusCode::kPermissionDenied;
    case ENOMEM:
    case EMFILE:
    case ENFILE: return StatusCode::kResourceExhausted;
    default: return StatusCode::kUnavailable;
  }
}

Status system_failure(const char* verb, const std::string& path) {
  const int error = errno;
  return failure(code_of_errno(error), "Cannot ", verb, " '", path, "': ", std::strerror(error), ".");
}

// An open file descriptor that closes itself; the mapping outlives it.
class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

Result<ModuleBytes> ModuleBytes::map_file(const std::string& path) {
  const File file(path);
  struct stat info;
  if (file.descriptor() < 0) return system_failure("open", path);
  if (::fstat(file.descriptor(), &info) != 0) return system_failure("read", path);
  if (S_ISDIR(info.st_mode)) return failure(StatusCode::kInvalidArgument, "'", path, "' is a directory, not a file.");
  if (!S_ISREG(info.st_mode)) return failure(StatusCode::kInvalidArgument, "'", path, "' is not a regular file.");
  if (info.st_size == 0) return failure(StatusCode::kInvalidArgument, "'", path, "' is an empty file.");
  const auto size = static_cast<size_t>(info.st_size);
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) return system_failure("map", path);
  return ModuleBytes({static_cast<const std::byte*>(memory), size}, Owner::kMapping);
}

ModuleBytes ModuleBytes::copy(std::span<const std::byte> bytes) {
  auto* memory = static_cast<std::byte*>(::operator new(bytes.size(), kAlignment));
  if (!bytes.empty()) std::memcpy(memory, bytes.data(), bytes.size());
  return ModuleBytes({memory, bytes.size()}, Owner::kHeap);
}

Result<ModuleBytes> ModuleBytes::borrow(std::span<const std::byte> bytes) {
  const size_t past = reinterpret_cast<uintptr_t>(bytes.data()) % kRodataAlignment;
  if (past != 0) {
    return failure(StatusCode::kInvalidArgument, "Module bytes lie ", past, " past a multiple of ", kRodataAlignment,
                   ".");
  }
  return ModuleBytes(bytes, Owner::kNobody);
}

ModuleBytes::ModuleBytes(ModuleBytes&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), owner_(std::exchange(other.owner_, Owner::kNobody)) {}

ModuleBytes& ModuleBytes::operator=(ModuleBytes&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(owner_, other.owner_);
  return *this;
}

ModuleBytes::~ModuleBytes() {
  auto* memory = const_cast<std::byte*>(bytes_.data());
  if (owner_ == Owner::kHeap) ::operator delete(memory, kAlignment);
  if (owner_ == Owner::kMapping) ::munmap(memory, bytes_.size());
}

}  // namespace baton::bytecode
