#include "hal/drivers/local/fat_elf.hpp"

#include "base/bytes.hpp"
#include "hal/drivers/local/elf_file.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr uint32_t kMagic = 0x1F0E70FA;
constexpr uint16_t kVersion = 1;
constexpr size_t kHeaderBytes = 8;
constexpr size_t kRecordBytes = 24;
constexpr uint8_t kWord64 = 2;
constexpr uint8_t kLittleEndian = 1;

}  // namespace

bool is_fat_elf(std::span<const std::byte> bytes) {
  return bytes.size() >= kHeaderBytes && load_bytes<uint32_t>(bytes.data()) == kMagic;
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

}  // namespace baton::hal::drivers::local
