#include "modules/tvm_ffi/library_symbols.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace baton::modules::tvm_ffi {
namespace {

constexpr std::string_view kPrefix = "__tvm_ffi_";

// A file's bytes for as long as this lives; empty where it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat about = {};
    if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
      void* memory = ::mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(memory), static_cast<size_t>(about.st_size)};
    }
    ::close(file);
  }
  ~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// A struct at an offset that the file claims, or nothing where it does not lie in the file.
template <typename T>
std::optional<T> read_at(std::span<const std::byte> bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view text_at(std::span<const std::byte> bytes, const Elf64_Shdr& strings, uint64_t offset) {
  if (strings.sh_offset > bytes.size() || bytes.size() - strings.sh_offset < strings.sh_size) return {};
  if (offset >= strings.sh_size) return {};
  const auto* start = reinterpret_cast<const char*>(bytes.data() + strings.sh_offset + offset);
  return {start, ::strnlen(start, static_cast<size_t>(strings.sh_size - offset))};
}

std::optional<Elf64_Shdr> section(std::span<const std::byte> bytes, const Elf64_Ehdr& head, uint64_t index) {
  if (index >= head.e_shnum || head.e_shoff > bytes.size()) return std::nullopt;
  return read_at<Elf64_Shdr>(bytes, head.e_shoff + index * sizeof(Elf64_Shdr));
}

void add_symbols(std::span<const std::byte> bytes, const Elf64_Ehdr& head, const Elf64_Shdr& symbols,
                 std::vector<std::string>& names) {
  const auto strings = section(bytes, head, symbols.sh_link);
  if (!strings || symbols.sh_offset > bytes.size()) return;
  const uint64_t size = std::min<uint64_t>(symbols.sh_size, bytes.size() - symbols.sh_offset);
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= size; at += sizeof(Elf64_Sym)) {
    const auto symbol = read_at<Elf64_Sym>(bytes, symbols.sh_offset + at);
    if (!symbol || symbol->st_shndx == SHN_UNDEF) continue;
    const std::string_view name = text_at(bytes, *strings, symbol->st_name);
    if (name.starts_with(kPrefix)) names.emplace_back(name.substr(kPrefix.size()));
  }
}

}  // namespace

std::vector<std::string> exported_functions(const std::string& path) {
  const MappedFile file(path);
  std::vector<std::string> names;
  const auto head = read_at<Elf64_Ehdr>(file.bytes(), 0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
      head->e_type != ET_DYN || head->e_shentsize != sizeof(Elf64_Shdr)) {
    return names;
  }
  for (uint64_t i = 0; i < head->e_shnum; ++i) {
    const auto one = section(file.bytes(), *head, i);
    if (one && one->sh_type == SHT_DYNSYM) add_symbols(file.bytes(), *head, *one, names);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace baton::modules::tvm_ffi
