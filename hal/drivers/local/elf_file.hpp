// ElfFile: the parts of an ELF file that a loader needs, read from bytes that are not trusted.
//
// Two looks: parse() reads the headers and says whether this host may load the file at all; DynamicTable reads what the
// file says about symbols and relocations, from the loaded memory. Both check every range before they look into it.
// Only 64-bit little-endian shared objects for x86_64 and aarch64 are known here.
// Threads: immutable.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace baton::hal::drivers::local {

// EM_X86_64 or EM_AARCH64: what this process runs.
uint16_t host_elf_machine();
// "x86_64", "aarch64", "machine 8".
std::string elf_machine_name(uint16_t machine);
bool is_elf(std::span<const std::byte> bytes);

struct ElfSegment {
  uint64_t address;      // From the start of the image.
  uint64_t memory_size;  // Beyond file_size it is zeros.
  uint64_t file_offset;
  uint64_t file_size;
  bool writable, executable;

  uint64_t end() const { return address + memory_size; }
};

struct ElfFile {
  std::vector<ElfSegment> segments;  // By address; no two share a page; none is writable and executable.
  uint64_t image_size;               // Whole pages.
  uint64_t dynamic_address, dynamic_size;
  uint64_t relro_address, relro_size;  // Read-only after relocation; 0 when there is none.

  static Result<ElfFile> parse(std::span<const std::byte> bytes, uint64_t page_size);

  // The segment that [address, address + size) lies in, or null.
  const ElfSegment* find_segment(uint64_t address, uint64_t size) const;
};

// Tables of the dynamic segment, bounds checked against the image they are in.
class DynamicTable {
 public:
  static Result<DynamicTable> read(const ElfFile& file, std::span<const std::byte> image);

  std::span<const Elf64_Rela> relocations() const { return relocations_; }
  std::span<const Elf64_Rela> plt_relocations() const { return plt_relocations_; }
  // The places of addresses in the image, packed (DT_RELR): an even word is the first one's, the bits of an odd one say which
  // of the next 63 words are.
  std::span<const uint64_t> packed_relocations() const { return packed_relocations_; }
  std::span<const Elf64_Sym> symbols() const { return symbols_; }
  // Empty when the name isn't inside the string table.
  std::string_view name_of(const Elf64_Sym& symbol) const;

 private:
  std::span<const Elf64_Rela> relocations_;
  std::span<const Elf64_Rela> plt_relocations_;
  std::span<const uint64_t> packed_relocations_;
  std::span<const Elf64_Sym> symbols_;
  std::string_view strings_;
};

}  // namespace baton::hal::drivers::local
