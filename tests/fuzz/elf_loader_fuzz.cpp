// The ELF loader and the FatELF container against any bytes: a status or an image, never a crash. Nothing is run.
#include <cstddef>
#include <cstdint>
#include <span>

#include "hal/drivers/local/elf_loader.hpp"
#include "hal/drivers/local/fat_elf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace local = baton::hal::drivers::local;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto own = local::select_from_fat_elf(bytes);
  if (!own.has_value()) return 0;
  const auto image = local::ElfImage::load(*own);
  if (image.has_value()) static_cast<void>((*image)->find_function("baton_executable_library_query"));
  return 0;
}
