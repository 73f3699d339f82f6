#include "bytecode/module_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

// How many bytes of a file with this size prefix are tables, which the gate reads and the interpreter runs; rodata
// follows them (verifier.cpp).
size_t table_bytes(uint32_t prefix) { return sizeof(prefix) + size_t{prefix}; }

// So much of every file is copied: small files are whole, and reading them is no slower than mapping them.
constexpr size_t kCopiedBytesMin = 256 * 1024;

size_t to_whole_pages(size_t bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

Status changed_meanwhile(const std::string& path) {
  return failure(StatusCode::kAborted, "'", path, "' was changed while it was read.");
}

Status read_whole(int descriptor, std::span<std::byte> target, const std::string& path) {
  for (size_t at = 0; at < target.size();) {
    const ssize_t count = ::pread(descriptor, target.data() + at, target.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("read", path);
    if (count == 0) return changed_meanwhile(path);  // Shorter than it was.
    at += static_cast<size_t>(count);
  }
  return {};
}

// An open file descriptor that closes itself; the mapping outlives it. A pipe that nobody writes to is opened at once, and
// refused as what it is.
class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
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
  // Maps the whole file to reserve the addresses, then puts own memory over its beginning and reads that part of the
  // file into it.
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) return system_failure("map", path);
  ModuleBytes bytes({static_cast<const std::byte*>(memory), size}, Owner::kMapping);
  uint32_t prefix = 0;
  if (::pread(file.descriptor(), &prefix, sizeof(prefix), 0) < 0) return system_failure("read", path);
  const size_t copied = std::min(size, to_whole_pages(std::max(table_bytes(prefix), kCopiedBytesMin)));
  if (::mmap(memory, copied, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    return system_failure("copy", path);
  }
  BATON_TRY(read_whole(file.descriptor(), {static_cast<std::byte*>(memory), copied}, path));
  if (copied >= sizeof(prefix)) std::memcpy(&prefix, memory, sizeof(prefix));
  if (copied < size && table_bytes(prefix) > copied) return changed_meanwhile(path);
  if (::mprotect(memory, copied, PROT_READ) != 0) return system_failure("protect", path);
  return bytes;
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
