#include "hal/drivers/local/elf_file.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr uint64_t kImageSizeMax = uint64_t{1} << 30;
constexpr size_t kSegmentsMax = 64;

template <typename... Parts>
Status malformed(const Parts&... parts) {
  return failure(StatusCode::kDataLoss, "Malformed ELF file: ", parts...);
}

Status check_header(const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return failure(StatusCode::kFailedPrecondition, "The ELF file is not 64-bit little-endian.");
  }
  if (header.e_type != ET_DYN) {
    return failure(StatusCode::kFailedPrecondition, "The ELF file has type ", header.e_type, "; only shared objects (",
                   ET_DYN, ") can be loaded.");
  }
  if (header.e_machine != host_elf_machine()) {
    return failure(StatusCode::kFailedPrecondition, "The ELF file is for ", elf_machine_name(header.e_machine),
                   "; this host is ", elf_machine_name(host_elf_machine()), ".");
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return malformed("program headers of ", header.e_phentsize, " bytes.");
  return {};
}

Result<ElfSegment> make_segment(const Elf64_Phdr& header, std::span<const std::byte> bytes) {
  if (!range_inside(header.p_offset, header.p_filesz, bytes.size())) {
    return malformed("a segment's bytes [", header.p_offset, ", +", header.p_filesz, ") end beyond the file (",
                     bytes.size(), ").");
  }
  if (header.p_filesz > header.p_memsz || !range_inside(header.p_vaddr, header.p_memsz, kImageSizeMax)) {
    return malformed("a segment at ", hex(header.p_vaddr), " of ", header.p_memsz, " bytes does not fit an image of ",
                     kImageSizeMax, ".");
  }
  const ElfSegment segment{header.p_vaddr,
                           header.p_memsz,
                           header.p_offset,
                           header.p_filesz,
                           (header.p_flags & PF_W) != 0,
                           (header.p_flags & PF_X) != 0};
  if (segment.writable && segment.executable) {
    return failure(StatusCode::kPermissionDenied, "The ELF file has a segment at ", hex(segment.address),
                   " that is writable and executable.");
  }
  return segment;
}

// Protection is per page, so a page must belong to one segment.
Status check_pages(std::vector<ElfSegment>& segments, uint64_t page_size) {
  std::sort(segments.begin(), segments.end(), [](auto& a, auto& b) { return a.address < b.address; });
  for (size_t i = 1; i < segments.size(); ++i) {
    const uint64_t taken = align_up(segments[i - 1].end(), page_size);
    if (segments[i].address / page_size * page_size < taken) {
      return malformed("segments at ", hex(segments[i - 1].address), " and ", hex(segments[i].address),
                       " share a page.");
    }
  }
  return {};
}

// `count` items of T at `address` of the image, in one segment of the file and aligned.
template <typename T>
Result<std::span<const T>> table_at(const ElfFile& file, std::span<const std::byte> image, std::string_view what,
                                    uint64_t address, uint64_t count) {
  if (count == 0) return std::span<const T>();
  if (count > kImageSizeMax / sizeof(T) || address % alignof(T) != 0 ||
      !file.find_segment(address, count * sizeof(T))) {
    return malformed("the ", what, " at ", hex(address), " (", count, " entries) lies outside of its segments.");
  }
  return std::span<const T>(reinterpret_cast<const T*>(image.data() + address), static_cast<size_t>(count));
}

struct DynamicEntries {
  uint64_t value[DT_JMPREL + 1] = {};
  uint64_t gnu_hash = 0;
  uint64_t packed = 0, packed_bytes = 0;
};

// Newer than some elf.h.
constexpr int64_t kDynamicPackedBytes = 35, kDynamicPacked = 36;

Result<DynamicEntries> read_entries(const ElfFile& file, std::span<const std::byte> image) {
  BATON_TRY_ASSIGN(const auto table, table_at<Elf64_Dyn>(file, image, "dynamic table", file.dynamic_address,
                                                         file.dynamic_size / sizeof(Elf64_Dyn)));
  DynamicEntries entries;
  for (const Elf64_Dyn& entry : table) {
    if (entry.d_tag == DT_NULL) break;
    switch (entry.d_tag) {
      case DT_NEEDED:
        return failure(StatusCode::kFailedPrecondition,
                       "The ELF file needs another shared library; embedded ELF files must be freestanding.");
      case DT_INIT:
      case DT_INIT_ARRAY:
      case DT_FINI:
      case DT_FINI_ARRAY:
        return failure(StatusCode::kFailedPrecondition,
                       "The ELF file has initializers; embedded ELF files run none (static objects in C++?).");
      case DT_TEXTREL:
        return failure(StatusCode::kPermissionDenied,
                       "The ELF file wants relocations in its code; compile it position-independent.");
      case DT_REL:
        return failure(StatusCode::kUnimplemented, "The ELF file has relocations in a form (dynamic tag ", entry.d_tag,
                       ") that is not used on this architecture.");
      case DT_GNU_HASH: entries.gnu_hash = entry.d_un.d_ptr; break;
      case kDynamicPacked: entries.packed = entry.d_un.d_ptr; break;
      case kDynamicPackedBytes: entries.packed_bytes = entry.d_un.d_val; break;
      default:
        if (entry.d_tag > 0 && entry.d_tag <= DT_JMPREL) entries.value[entry.d_tag] = entry.d_un.d_val;
    }
  }
  return entries;
}

// The number of symbols stands in no table of its own; hash tables imply it.
Result<uint64_t> count_symbols_by_hash(const ElfFile& file, std::span<const std::byte> image, uint64_t address) {
  BATON_TRY_ASSIGN(const auto head, table_at<uint32_t>(file, image, "hash table", address, 2));
  return uint64_t{head[1]};
}

// More than any kernel library has. A chain over zeros, which end none, would else be walked through the whole image,
// entry by entry: minutes for a file of a few hundred bytes.
constexpr uint64_t kSymbolsMax = uint64_t{1} << 16;

// Symbols in GNU hash tables stand in chains; the last chain's end (its lowest bit) is the last symbol.
Result<uint64_t> count_symbols_by_gnu_hash(const ElfFile& file, std::span<const std::byte> image, uint64_t address) {
  BATON_TRY_ASSIGN(const auto head, table_at<uint32_t>(file, image, "GNU hash table", address, 4));
  const uint64_t bucket_count = head[0], first_symbol = head[1], bloom_words = head[2];
  const uint64_t buckets_at = address + 16 + bloom_words * 8;
  BATON_TRY_ASSIGN(const auto buckets, table_at<uint32_t>(file, image, "GNU hash table", buckets_at, bucket_count));
  uint64_t last = 0;
  for (const uint32_t bucket : buckets) last = std::max<uint64_t>(last, bucket);
  if (last < first_symbol) return first_symbol;
  uint64_t chain_at = buckets_at + 4 * (bucket_count + last - first_symbol);
  for (; last < kSymbolsMax; chain_at += 4, ++last) {
    BATON_TRY_ASSIGN(const auto link, table_at<uint32_t>(file, image, "GNU hash chain", chain_at, 1));
    if (link[0] & 1) return last + 1;
  }
  return malformed("the GNU hash table names more than ", kSymbolsMax, " symbols.");
}

}  // namespace

uint16_t host_elf_machine() {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#else
  return EM_NONE;
#endif
}

std::string elf_machine_name(uint16_t machine) {
  if (machine == EM_X86_64) return "x86_64";
  if (machine == EM_AARCH64) return "aarch64";
  return text("machine ", machine);
}

bool is_elf(std::span<const std::byte> bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Result<ElfFile> ElfFile::parse(std::span<const std::byte> bytes, uint64_t page_size) {
  if (bytes.size() < sizeof(Elf64_Ehdr) || !is_elf(bytes)) {
    return failure(StatusCode::kDataLoss, "The ", bytes.size(), " bytes are not an ELF file.");
  }
  const auto header = load_bytes<Elf64_Ehdr>(bytes.data());
  BATON_TRY(check_header(header));
  if (header.e_phnum > kSegmentsMax ||
      !range_inside(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), bytes.size())) {
    return malformed(header.e_phnum, " program headers at ", header.e_phoff, " do not fit the file (", bytes.size(),
                     ").");
  }
  ElfFile file{};
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = load_bytes<Elf64_Phdr>(bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_LOAD && segment.p_memsz != 0) {
      BATON_TRY_ASSIGN(const ElfSegment made, make_segment(segment, bytes));
      file.segments.push_back(made);
    } else if (segment.p_type == PT_DYNAMIC) {
      file.dynamic_address = segment.p_vaddr;
      file.dynamic_size = segment.p_memsz;
    } else if (segment.p_type == PT_GNU_RELRO) {
      file.relro_address = segment.p_vaddr;
      file.relro_size = segment.p_memsz;
    } else if (segment.p_type == PT_TLS) {
      return failure(StatusCode::kFailedPrecondition,
                     "The ELF file has thread-local variables; embedded ELF files may not.");
    }
  }
  if (file.segments.empty() || file.dynamic_size == 0) return malformed("it has no segments or no dynamic table.");
  BATON_TRY(check_pages(file.segments, page_size));
  file.image_size = align_up(file.segments.back().end(), page_size);
  if (file.relro_size != 0 && !file.find_segment(file.relro_address, 1))
    return malformed("its read-only part is outside.");
  return file;
}

const ElfSegment* ElfFile::find_segment(uint64_t address, uint64_t size) const {
  for (const ElfSegment& segment : segments) {
    if (address >= segment.address && range_inside(address - segment.address, size, segment.memory_size))
      return &segment;
  }
  return nullptr;
}

Result<DynamicTable> DynamicTable::read(const ElfFile& file, std::span<const std::byte> image) {
  BATON_TRY_ASSIGN(const DynamicEntries entries, read_entries(file, image));
  const auto& value = entries.value;
  uint64_t symbol_count = 0;
  if (value[DT_HASH]) {
    BATON_TRY_ASSIGN(symbol_count, count_symbols_by_hash(file, image, value[DT_HASH]));
  } else if (entries.gnu_hash) {
    BATON_TRY_ASSIGN(symbol_count, count_symbols_by_gnu_hash(file, image, entries.gnu_hash));
  }
  DynamicTable table;
  BATON_TRY_ASSIGN(table.symbols_, table_at<Elf64_Sym>(file, image, "symbol table", value[DT_SYMTAB], symbol_count));
  BATON_TRY_ASSIGN(const auto strings, table_at<char>(file, image, "string table", value[DT_STRTAB], value[DT_STRSZ]));
  BATON_TRY_ASSIGN(table.relocations_, table_at<Elf64_Rela>(file, image, "relocation table", value[DT_RELA],
                                                            value[DT_RELASZ] / sizeof(Elf64_Rela)));
  BATON_TRY_ASSIGN(table.plt_relocations_, table_at<Elf64_Rela>(file, image, "PLT relocation table", value[DT_JMPREL],
                                                                value[DT_PLTRELSZ] / sizeof(Elf64_Rela)));
  BATON_TRY_ASSIGN(table.packed_relocations_, table_at<uint64_t>(file, image, "packed relocation table", entries.packed,
                                                                 entries.packed_bytes / sizeof(uint64_t)));
  table.strings_ = {strings.data(), strings.size()};
  return table;
}

std::string_view DynamicTable::name_of(const Elf64_Sym& symbol) const {
  if (symbol.st_name >= strings_.size()) return {};
  const std::string_view rest = strings_.substr(symbol.st_name);
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace baton::hal::drivers::local
