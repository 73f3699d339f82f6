#include "hal/device_image.hpp"

#include <elf.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hal/code_format.hpp"

namespace baton::hal {
namespace {

using Code = std::span<const std::byte>;

// NVIDIA's names for none of these are public; the fields are those that cuobjdump shows.
struct FatbinHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;  // Behind the header.
};
struct FatbinPart {
  uint16_t kind;
  uint16_t version;
  uint32_t header_bytes;
  uint64_t bytes;  // Behind the header.
};
constexpr uint64_t kFatbinAlignment = 8;

// How LTO-IR begins, as the compilers of CUDA 11 to 13 write it. Behind these words stand numbers up to `numbers_end`,
// tables up to `tables_end`, then the code itself, packed; the linker is careful when it unpacks it (device_image.hpp).
struct LtoHeader {
  uint32_t magic;
  uint8_t versions[8];
  uint16_t header_bytes;
  uint16_t level;
  uint32_t numbers_end;
  uint32_t tables_end;
};

struct ArchiveMember {
  char name[16], date[12], user[6], group[6], mode[8], bytes[10], end[2];
};

bool inside(Code code, uint64_t begin, uint64_t length) {
  return begin <= code.size() && length <= code.size() - begin;
}

Status cut_off(std::string_view kind, Code code, std::string_view what, uint64_t begin, uint64_t length) {
  return failure(StatusCode::kDataLoss, "The ", kind, " has ", code.size(), " bytes; its ", what, " are ", length,
                 " bytes from ", begin, " on.");
}

bool is_fatbin(Code code) { return code.size() >= 4 && load_bytes<uint32_t>(code.data()) == kFatbinMagic; }
bool is_elf(Code code) { return code.size() >= SELFMAG && std::memcmp(code.data(), ELFMAG, SELFMAG) == 0; }
bool is_cuda(const Elf64_Ehdr& header) { return header.e_machine == kMachineCuda; }
bool is_archive(Code code) {
  return code.size() >= kArchiveStart.size() &&
         std::memcmp(code.data(), kArchiveStart.data(), kArchiveStart.size()) == 0;
}

Status check_tables(Code code);

// ---- Fatbins --------------------------------------------------------------------------------------------------------

// What lies in a fatbin holds no other fatbins, so nothing here goes deeper than archive, object, fatbin and cubin.
Status check_parts(Code code, Code contents) {
  for (uint64_t at = 0; contents.size() - at >= sizeof(FatbinPart);) {
    const auto part = load_bytes<FatbinPart>(contents.data() + at);
    if (part.header_bytes < sizeof(FatbinPart) || !inside(contents, at, part.header_bytes) ||
        !inside(contents, at + part.header_bytes, part.bytes)) {
      return cut_off("fatbin", code, text("part at ", at, " of ", part.header_bytes, " and contents"), at, part.bytes);
    }
    const Code image = contents.subspan(static_cast<size_t>(at) + part.header_bytes, static_cast<size_t>(part.bytes));
    if (is_elf(image)) BATON_TRY_CONTEXT(check_tables(image), "in a fatbin");
    at += part.header_bytes + part.bytes;
  }
  return {};
}

// The bytes of the one that `code` begins with, and whatever follows it is let be.
Status check_fatbin(Code code, uint64_t& length) {
  if (code.size() < sizeof(FatbinHeader)) return cut_off("fatbin", code, "first words", 0, sizeof(FatbinHeader));
  const auto header = load_bytes<FatbinHeader>(code.data());
  if (header.header_bytes < sizeof(FatbinHeader) || !inside(code, header.header_bytes, header.bytes)) {
    return cut_off("fatbin", code, "contents", header.header_bytes, header.bytes);
  }
  length = header.header_bytes + header.bytes;
  return check_parts(code, code.subspan(header.header_bytes, static_cast<size_t>(header.bytes)));
}

// One behind the other, as objects of a host have them.
Status check_fatbins(Code code) {
  while (is_fatbin(code)) {
    uint64_t length = 0;
    BATON_TRY(check_fatbin(code, length));
    const uint64_t next = (length + kFatbinAlignment - 1) / kFatbinAlignment * kFatbinAlignment;
    if (next >= code.size()) break;
    code = code.subspan(static_cast<size_t>(next));
  }
  return {};
}

// ---- ELF ------------------------------------------------------------------------------------------------------------

struct Table {
  uint64_t begin = 0;
  uint64_t count = 0;

  template <typename Row>
  Status check(std::string_view kind, std::string_view what, Code code) const {
    const uint64_t length = count > UINT64_MAX / sizeof(Row) ? UINT64_MAX : count * sizeof(Row);
    return inside(code, begin, length) ? Status() : cut_off(kind, code, what, begin, length);
  }
  template <typename Row>
  Row row(Code code, uint64_t index) const {
    return load_bytes<Row>(code.data() + begin + index * sizeof(Row));
  }
};

// Counts that do not fit the header stand in the first section.
struct Tables {
  Table sections, segments;

  Tables(Code code, const Elf64_Ehdr& header)
      : sections{header.e_shoff, header.e_shnum}, segments{header.e_phoff, header.e_phnum} {
    const bool has_first = header.e_shoff != 0 && inside(code, header.e_shoff, sizeof(Elf64_Shdr));
    const Elf64_Shdr first = has_first ? sections.row<Elf64_Shdr>(code, 0) : Elf64_Shdr{};
    if (header.e_shnum == 0) sections.count = first.sh_size;
    if (header.e_phnum == PN_XNUM) segments.count = first.sh_info;
  }
};

Status check_header(std::string_view kind, const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    return failure(StatusCode::kInvalidArgument, "The ", kind, " is of class ", int{header.e_ident[EI_CLASS]},
                   "; one of 64 bits is of class ", ELFCLASS64, ".");
  }
  // Tables may be absent, but not of rows of another size.
  const bool has_sections = header.e_shnum != 0 || header.e_shoff != 0;
  if ((has_sections && header.e_shentsize != sizeof(Elf64_Shdr)) ||
      (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr))) {
    return failure(StatusCode::kDataLoss, "The ", kind, " has sections of ", header.e_shentsize,
                   " bytes and segments of ", header.e_phentsize, "; they have ", sizeof(Elf64_Shdr), " and ",
                   sizeof(Elf64_Phdr), ".");
  }
  return {};
}

Status check_sections(std::string_view kind, Code code, const Table& table) {
  BATON_TRY(table.check<Elf64_Shdr>(kind, "sections", code));
  for (uint64_t i = 0; i < table.count; ++i) {
    const auto section = table.row<Elf64_Shdr>(code, i);
    if (section.sh_type == SHT_NOBITS || inside(code, section.sh_offset, section.sh_size)) continue;
    return cut_off(kind, code, text("contents of section ", i), section.sh_offset, section.sh_size);
  }
  return {};
}

Status check_segments(std::string_view kind, Code code, const Table& table) {
  BATON_TRY(table.check<Elf64_Phdr>(kind, "segments", code));
  for (uint64_t i = 0; i < table.count; ++i) {
    const auto segment = table.row<Elf64_Phdr>(code, i);
    if (inside(code, segment.p_offset, segment.p_filesz)) continue;
    return cut_off(kind, code, text("contents of segment ", i), segment.p_offset, segment.p_filesz);
  }
  return {};
}

Status check_tables(Code code) {
  constexpr size_t kMachineAt = offsetof(Elf64_Ehdr, e_machine);
  const bool is_object =
      code.size() >= kMachineAt + 2 && load_bytes<uint16_t>(code.data() + kMachineAt) != kMachineCuda;
  const std::string_view kind = is_object ? "object" : "cubin";
  if (code.size() < sizeof(Elf64_Ehdr)) return cut_off(kind, code, "first words", 0, sizeof(Elf64_Ehdr));
  const auto header = load_bytes<Elf64_Ehdr>(code.data());
  BATON_TRY(check_header(kind, header));
  const Tables tables(code, header);
  BATON_TRY(check_sections(kind, code, tables.sections));
  return check_segments(kind, code, tables.segments);
}

// Objects of a host have their device code in sections. Sections that lie over each other could have all of it looked
// at as often as there are sections.
Status check_fatbins_within(Code code) {
  const Table sections = Tables(code, load_bytes<Elf64_Ehdr>(code.data())).sections;
  uint64_t looked_at = 0;
  for (uint64_t i = 0; i < sections.count; ++i) {
    const auto section = sections.row<Elf64_Shdr>(code, i);
    if (section.sh_type == SHT_NOBITS) continue;
    const Code contents = code.subspan(static_cast<size_t>(section.sh_offset), static_cast<size_t>(section.sh_size));
    if (!is_fatbin(contents)) continue;
    looked_at += contents.size();
    if (looked_at > code.size()) {
      return failure(StatusCode::kDataLoss, "The object has ", code.size(),
                     " bytes, and its sections with fatbins up to ", i, " have ", looked_at,
                     " together: they lie over each other.");
    }
    BATON_TRY_CONTEXT(check_fatbins(contents), "in section ", i, " of an object");
  }
  return {};
}

Status check_elf(Code code) {
  BATON_TRY(check_tables(code));
  return is_cuda(load_bytes<Elf64_Ehdr>(code.data())) ? Status() : check_fatbins_within(code);
}

// ---- Archives -------------------------------------------------------------------------------------------------------

Status check_archive(Code code) {
  for (uint64_t at = kArchiveStart.size(); at < code.size();) {
    if (!inside(code, at, sizeof(ArchiveMember))) return cut_off("archive", code, "member", at, sizeof(ArchiveMember));
    const auto member = load_bytes<ArchiveMember>(code.data() + at);
    at += sizeof(ArchiveMember);
    const std::string_view field(member.bytes, sizeof(member.bytes));
    uint64_t length = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), length);
    if (error != std::errc() || (end != field.data() + field.size() && *end != ' ')) {
      return failure(StatusCode::kDataLoss, "The archive's member at ", at, " does not say how long it is.");
    }
    if (!inside(code, at, length)) return cut_off("archive", code, "member's contents", at, length);
    const Code contents = code.subspan(static_cast<size_t>(at), static_cast<size_t>(length));
    if (!is_archive(contents)) BATON_TRY_CONTEXT(check_device_image(contents), "in the archive's member at ", at);
    at += length + length % 2;
  }
  return {};
}

// ---- LTO-IR ---------------------------------------------------------------------------------------------------------

bool is_lto(Code code) { return code.size() >= 4 && load_bytes<uint32_t>(code.data()) == kLtoIrMagic; }

Status check_lto(Code code) {
  if (code.size() < sizeof(LtoHeader)) return cut_off("LTO-IR", code, "first words", 0, sizeof(LtoHeader));
  const auto header = load_bytes<LtoHeader>(code.data());
  const bool in_order = header.header_bytes >= sizeof(LtoHeader) && header.header_bytes <= header.numbers_end &&
                        header.numbers_end <= header.tables_end && header.tables_end <= code.size();
  if (in_order) return {};
  return failure(StatusCode::kDataLoss, "The LTO-IR has ", code.size(), " bytes; its head ends at ",
                 header.header_bytes, ", its numbers at ", header.numbers_end, " and its tables at ", header.tables_end,
                 ".");
}

}  // namespace

Status check_device_image(Code code) {
  if (is_lto(code)) return check_lto(code);
  if (is_elf(code)) return check_elf(code);
  if (is_archive(code)) return check_archive(code);
  uint64_t length = 0;
  return is_fatbin(code) ? check_fatbin(code, length) : Status();
}

}  // namespace baton::hal
