// FatELF: one file (.sos) that holds the same library for several architectures.
//
//   u32 hal::kFatElfMagic, u16 version 1, u8 record count, u8 reserved, then for each record 24 bytes:
//   u16 machine, u8 os abi, u8 abi version, u8 word size (1: 32, 2: 64), u8 byte order (0: big, 1: little), u16
//   reserved, u64 offset, u64 size, from the start of the file. All little-endian.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace baton::hal::drivers::local {

bool is_fat_elf(std::span<const std::byte> bytes);
// The first file inside that fits this host; when none does, says what there is. Bytes that are no FatELF are returned
// as they are: a thin file is a fat one of one.
Result<std::span<const std::byte>> select_from_fat_elf(std::span<const std::byte> bytes);

struct ThinElf {
  std::string name;  // For messages.
  std::span<const std::byte> bytes;
};
// One FatELF file of shared objects for different machines, in this order.
Result<std::vector<std::byte>> make_fat_elf(std::span<const ThinElf> files);

}  // namespace baton::hal::drivers::local
