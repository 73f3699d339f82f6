#include "base/shared_object.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace baton {
namespace {

// A file that is open for as long as this lives, or not at all.
class OpenFile {
 public:
  explicit OpenFile(const char* path) : file_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat about = {};
    if (file_ >= 0 && ::fstat(file_, &about) == 0 && S_ISREG(about.st_mode))
      size_ = static_cast<uint64_t>(about.st_size);
  }
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  uint64_t size() const { return size_; }
  template <typename T>
  bool read(uint64_t offset, T& out) const {
    return has(offset, sizeof(T)) && ::pread(file_, &out, sizeof(T), static_cast<off_t>(offset)) == ssize_t{sizeof(T)};
  }
  bool has(uint64_t offset, uint64_t length) const { return offset <= size_ && size_ - offset >= length; }

 private:
  int file_;
  uint64_t size_ = 0;  // Of what can be read.
};

Status cut_off(const OpenFile& file, std::string_view part, uint64_t offset, uint64_t length) {
  return failure(StatusCode::kDataLoss, "The library has ", file.size(), " bytes, and its ", part, " has ", length,
                 " from ", offset, " on: it was cut off.");
}

}  // namespace

Status check_shared_object(const char* path) {
  const OpenFile file(path);
  Elf64_Ehdr head;
  if (!file.read(0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_phentsize != sizeof(Elf64_Phdr)) {
    return {};
  }
  for (uint64_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment;
    const uint64_t offset = head.e_phoff + i * sizeof(segment);
    if (!file.read(offset, segment))
      return cut_off(file, "table of segments", head.e_phoff, sizeof(segment) * head.e_phnum);
    if (segment.p_type == PT_LOAD && !file.has(segment.p_offset, segment.p_filesz)) {
      return cut_off(file, text("segment ", i), segment.p_offset, segment.p_filesz);
    }
  }
  return {};
}

namespace {

// Another name of the same file, which no other file has: the loader compares files where it doesn't know the name. Which file it is
// stands in the dots.
std::string own_name(const std::string& path, const struct stat& file) {
  const size_t folder = path.rfind('/') + 1;
  std::string name = folder == 0 ? "./" : path.substr(0, folder);
  for (uint64_t number : {uint64_t{file.st_ino}, uint64_t{file.st_dev}}) {
    for (int bit = 0; bit < 64; ++bit, number >>= 1) name += (number & 1) != 0 ? "./" : "/";
  }
  return name + path.substr(folder);
}

}  // namespace

void* open_shared_object(const std::string& path) {
  constexpr int kMode = RTLD_NOW | RTLD_LOCAL;
  struct stat file = {};
  void* known = ::dlopen(path.c_str(), kMode | RTLD_NOLOAD);
  if (!known || ::stat(path.c_str(), &file) != 0) return known ? known : ::dlopen(path.c_str(), kMode);
  void* opened = ::dlopen(own_name(path, file).c_str(), kMode);
  ::dlclose(known);
  return opened;
}

}  // namespace baton
