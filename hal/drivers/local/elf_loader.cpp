#include "hal/drivers/local/elf_loader.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/bytes.hpp"

namespace baton::hal::drivers::local {
namespace {

uint64_t page_size() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// What a relocation puts into its place, by architecture.
enum class RelocationKind { kNone, kImage, kSymbol, kSymbolPlusAddend, kChosen, kUnknown };

RelocationKind relocation_kind(uint64_t type) {
  if (host_elf_machine() == EM_X86_64) {
    switch (type) {
      case R_X86_64_NONE: return RelocationKind::kNone;
      case R_X86_64_RELATIVE: return RelocationKind::kImage;
      case R_X86_64_GLOB_DAT:
      case R_X86_64_JUMP_SLOT: return RelocationKind::kSymbol;
      case R_X86_64_64: return RelocationKind::kSymbolPlusAddend;
      case R_X86_64_IRELATIVE: return RelocationKind::kChosen;
    }
  } else if (host_elf_machine() == EM_AARCH64) {
    switch (type) {
      case R_AARCH64_NONE: return RelocationKind::kNone;
      case R_AARCH64_RELATIVE: return RelocationKind::kImage;
      case R_AARCH64_GLOB_DAT:
      case R_AARCH64_JUMP_SLOT:
      case R_AARCH64_ABS64: return RelocationKind::kSymbolPlusAddend;
      case R_AARCH64_IRELATIVE: return RelocationKind::kChosen;
    }
  }
  return RelocationKind::kUnknown;
}

// What a function that is chosen by the processor stands for is what its resolver returns, which is code of the file, too.
Status chosen_function(std::string_view name) {
  return failure(StatusCode::kFailedPrecondition, "The ELF file has a function ",
                 name.empty() ? std::string() : text("'", name, "' "),
                 "that is chosen when it is loaded (ifunc, target_clones); embedded ELF files run nothing then.");
}

Status system_failure(std::string_view what, uint64_t size) {
  return failure(StatusCode::kResourceExhausted, "Cannot ", what, " ", size,
                 " bytes for an ELF image: ", std::strerror(errno), ".");
}

}  // namespace

Result<Ref<ElfImage>> ElfImage::load(std::span<const std::byte> given) {
  // Copied before anything is checked: they may lie in a mapped file, which another process changes meanwhile.
  const std::vector<std::byte> bytes(given.begin(), given.end());
  BATON_TRY_ASSIGN(ElfFile file, ElfFile::parse(bytes, page_size()));
  void* base =
      mmap(nullptr, static_cast<size_t>(file.image_size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return system_failure("reserve", file.image_size);
  auto image = make_ref<ElfImage>(static_cast<std::byte*>(base), std::move(file));
  for (const ElfSegment& segment : image->file_.segments) {
    std::memcpy(image->base_ + segment.address, bytes.data() + segment.file_offset,
                static_cast<size_t>(segment.file_size));
  }
  BATON_TRY(image->relocate());
  BATON_TRY(image->protect());
  return image;
}

ElfImage::~ElfImage() { munmap(base_, static_cast<size_t>(file_.image_size)); }

Status ElfImage::relocate() {
  BATON_TRY_ASSIGN(const DynamicTable table, DynamicTable::read(file_, image()));
  std::string missing;
  for (const auto relocations : {table.relocations(), table.plt_relocations()}) {
    for (const Elf64_Rela& relocation : relocations) BATON_TRY(apply(relocation, table, missing));
  }
  BATON_TRY(apply_packed(table.packed_relocations()));
  if (missing.empty()) return {};
  return failure(
      StatusCode::kNotFound,
      "The ELF file uses symbols that it does not define; embedded ELF files must be freestanding:", missing);
}

// Copies of the table's entries: the relocations may, in a hostile file, lie where they write.
Status ElfImage::apply(const Elf64_Rela& entry, const DynamicTable& table, std::string& missing) {
  const Elf64_Rela relocation = entry;
  const uint64_t type = ELF64_R_TYPE(relocation.r_info);
  const RelocationKind kind = relocation_kind(type);
  if (kind == RelocationKind::kNone) return {};
  if (kind == RelocationKind::kUnknown) {
    return failure(StatusCode::kUnimplemented, "The ELF file has a relocation of type ", type, " at ",
                   hex(relocation.r_offset), ", which has no place in freestanding code.");
  }
  if (kind == RelocationKind::kChosen) return chosen_function({});
  BATON_TRY(check_place(relocation.r_offset));
  const auto base = reinterpret_cast<uint64_t>(base_);
  uint64_t value = base;
  if (kind != RelocationKind::kImage) {
    const uint64_t index = ELF64_R_SYM(relocation.r_info);
    if (index >= table.symbols().size()) {
      return failure(StatusCode::kDataLoss, "Malformed ELF file: a relocation names symbol ", index, " of ",
                     table.symbols().size(), ".");
    }
    const Elf64_Sym symbol = table.symbols()[index];
    const bool defined = symbol.st_shndx != SHN_UNDEF;
    if (!defined && ELF64_ST_BIND(symbol.st_info) != STB_WEAK) missing += text("\n  '", table.name_of(symbol), "'");
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) return chosen_function(table.name_of(symbol));
    value = defined ? (symbol.st_shndx == SHN_ABS ? 0 : base) + symbol.st_value : 0;
  }
  if (kind != RelocationKind::kSymbol) value += static_cast<uint64_t>(relocation.r_addend);
  store_bytes(base_ + relocation.r_offset, value);
  return {};
}

Status ElfImage::check_place(uint64_t address) const {
  const ElfSegment* segment = file_.find_segment(address, sizeof(uint64_t));
  if (segment && segment->writable) return {};
  return failure(StatusCode::kDataLoss, "Malformed ELF file: the relocation at ", hex(address),
                 " is not in a writable segment.");
}

Status ElfImage::apply_packed(std::span<const uint64_t> words) {
  uint64_t next = 0;
  const auto move = [&](uint64_t address) -> Status {
    BATON_TRY(check_place(address));
    store_bytes(base_ + address, load_bytes<uint64_t>(base_ + address) + reinterpret_cast<uint64_t>(base_));
    return {};
  };
  for (const uint64_t& each : words) {
    const uint64_t word = each;  // A hostile file's table may lie where it writes.
    if ((word & 1) == 0) {
      BATON_TRY(move(word));
      next = word + sizeof(uint64_t);
      continue;
    }
    for (uint64_t bits = word >> 1, at = next; bits != 0; bits >>= 1, at += sizeof(uint64_t)) {
      if (bits & 1) BATON_TRY(move(at));
    }
    next += 63 * sizeof(uint64_t);
  }
  return {};
}

// Beyond this call no page of the image is writable and executable, and none that needs not be is writable.
Status ElfImage::protect() {
  const auto set = [&](uint64_t begin, uint64_t end, int protection) -> Status {
    begin = begin / page_size() * page_size();
    end = align_up(end, page_size());
    if (mprotect(base_ + begin, static_cast<size_t>(end - begin), protection) != 0) {
      return system_failure("protect", end - begin);
    }
    return {};
  };
  // Readable in any case: find_function() reads tables wherever a file puts them.
  for (const ElfSegment& segment : file_.segments) {
    const int protection = PROT_READ | (segment.writable ? PROT_WRITE : 0) | (segment.executable ? PROT_EXEC : 0);
    BATON_TRY(set(segment.address, segment.end(), protection));
    if (segment.executable) {
      __builtin___clear_cache(reinterpret_cast<char*>(base_ + segment.address),
                              reinterpret_cast<char*>(base_ + segment.end()));
    }
  }
  const ElfSegment* relro = file_.relro_size ? file_.find_segment(file_.relro_address, 1) : nullptr;
  if (!relro || !relro->writable) return {};
  // Down to a whole page: what shares the last one with writable data stays writable, as with the system's loader.
  const uint64_t wanted_end = file_.relro_address + file_.relro_size;
  const uint64_t end =
      (wanted_end < relro->end() ? wanted_end / page_size() * page_size() : align_up(relro->end(), page_size()));
  return end > relro->address ? set(relro->address, end, PROT_READ) : Status();
}

// Linear: a loader asks for one name, once.
void* ElfImage::find_function(std::string_view name) const {
  const auto table = DynamicTable::read(file_, image());
  if (!table.has_value()) return nullptr;
  for (const Elf64_Sym& symbol : table->symbols()) {
    if (symbol.st_shndx == SHN_UNDEF || table->name_of(symbol) != name) continue;
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) continue;
    const ElfSegment* segment = file_.find_segment(symbol.st_value, 1);
    if (segment && segment->executable) return base_ + symbol.st_value;
  }
  return nullptr;
}

const ElfSegment* ElfImage::segment_at(const void* address, uint64_t size) const {
  // What lies before the image is far behind it.
  return file_.find_segment(reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base_), size);
}

bool ElfImage::holds_text(const char* text) const {
  const ElfSegment* segment = segment_at(text, 1);
  if (!segment) return false;
  const auto* end = reinterpret_cast<const char*>(base_ + segment->end());
  return std::memchr(text, 0, static_cast<size_t>(end - text)) != nullptr;
}

bool ElfImage::holds_code(const void* address) const {
  const ElfSegment* segment = segment_at(address, 1);
  return segment && segment->executable;
}

}  // namespace baton::hal::drivers::local
