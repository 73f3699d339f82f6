#include "hal/drivers/local/fat_elf.hpp"

#include "base/bytes.hpp"
#include "hal/code_format.hpp"
#include "hal/drivers/local/elf_file.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr uint16_t kVersion = 1;
constexpr size_t kHeaderBytes = 8;
constexpr size_t kRecordBytes = 24;
constexpr uint8_t kWord64 = 2;
constexpr uint8_t kLittleEndian = 1;
constexpr size_t kAlignment = 64;  // Of the files inside.
constexpr size_t kFilesMax = 255;

Result<Elf64_Ehdr> header_of(const ThinElf& file) {
  if (is_fat_elf(file.bytes)) {
    return failure(StatusCode::kInvalidArgument, "'", file.name, "' is a FatELF file; files inside of one are thin.");
  }
  Elf64_Ehdr header;
  const bool is_whole = is_elf(file.bytes) && file.bytes.size() >= sizeof header;
  if (is_whole) header = load_bytes<Elf64_Ehdr>(file.bytes.data());
  const bool is_good = is_whole && header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                       header.e_type == ET_DYN;
  if (is_good) return header;
  return failure(StatusCode::kInvalidArgument, "'", file.name,
                 "' is not a shared object in ELF of 64 bits, little-endian.");
}

Status check_new(std::span<const uint16_t> machines, uint16_t machine, std::string_view name) {
  for (const uint16_t other : machines) {
    if (other != machine) continue;
    return failure(StatusCode::kInvalidArgument, "'", name, "' is the second file for ", elf_machine_name(machine),
                   "; a loader takes the first one.");
  }
  return {};
}

}  // namespace

bool is_fat_elf(std::span<const std::byte> bytes) {
  return bytes.size() >= kHeaderBytes && load_bytes<uint32_t>(bytes.data()) == kFatElfMagic;
}

Result<std::span<const std::byte>> select_from_fat_elf(std::span<const std::byte> bytes) {
  if (!is_fat_elf(bytes)) return bytes;
  const auto version = load_bytes<uint16_t>(bytes.data() + 4);
  const auto count = load_bytes<uint8_t>(bytes.data() + 6);
  if (version != kVersion || !range_inside(kHeaderBytes, count * kRecordBytes, bytes.size())) {
    return failure(StatusCode::kDataLoss, "Malformed FatELF file: version ", version, " with ", uint32_t{count},
                   " records in ", bytes.size(), " bytes.");
  }
  std::string found;
  for (size_t i = 0; i < count; ++i) {
    const std::byte* record = bytes.data() + kHeaderBytes + i * kRecordBytes;
    const auto machine = load_bytes<uint16_t>(record);
    const bool fits = machine == host_elf_machine() && load_bytes<uint8_t>(record + 4) == kWord64 &&
                      load_bytes<uint8_t>(record + 5) == kLittleEndian;
    if (!fits) {
      found += text(found.empty() ? "" : ", ", elf_machine_name(machine));
      continue;
    }
    const auto offset = load_bytes<uint64_t>(record + 8), size = load_bytes<uint64_t>(record + 16);
    if (!range_inside(offset, size, bytes.size())) {
      return failure(StatusCode::kDataLoss, "Malformed FatELF file: record ", i, " [", offset, ", +", size,
                     ") ends beyond the file (", bytes.size(), ").");
    }
    return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  return failure(StatusCode::kFailedPrecondition, "The FatELF file has nothing for ",
                 elf_machine_name(host_elf_machine()), "; it has: ", found.empty() ? "nothing" : found, ".");
}

Result<std::vector<std::byte>> make_fat_elf(std::span<const ThinElf> files) {
  if (files.empty() || files.size() > kFilesMax) {
    return failure(StatusCode::kInvalidArgument, "A FatELF file holds 1 to ", kFilesMax, " files, not ", files.size(),
                   ".");
  }
  std::vector<std::byte> fat(kHeaderBytes + kRecordBytes * files.size());
  store_bytes(fat.data(), kFatElfMagic);
  store_bytes(fat.data() + 4, kVersion);
  store_bytes(fat.data() + 6, static_cast<uint8_t>(files.size()));
  std::vector<uint16_t> machines;
  for (const ThinElf& file : files) {
    BATON_TRY_ASSIGN(const Elf64_Ehdr header, header_of(file));
    BATON_TRY(check_new(machines, header.e_machine, file.name));
    const size_t offset = align_up(fat.size(), kAlignment);
    fat.resize(offset);
    std::byte* record = fat.data() + kHeaderBytes + machines.size() * kRecordBytes;
    store_bytes(record, uint16_t{header.e_machine});
    store_bytes(record + 2, header.e_ident[EI_OSABI]);
    store_bytes(record + 3, header.e_ident[EI_ABIVERSION]);
    store_bytes(record + 4, kWord64);
    store_bytes(record + 5, kLittleEndian);
    store_bytes(record + 8, uint64_t{offset});
    store_bytes(record + 16, uint64_t{file.bytes.size()});
    fat.insert(fat.end(), file.bytes.begin(), file.bytes.end());
    machines.push_back(header.e_machine);
  }
  return fat;
}

}  // namespace baton::hal::drivers::local
