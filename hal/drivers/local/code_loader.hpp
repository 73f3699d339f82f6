// The formats of CPU code, best first, and who loads them.
//
//   static-library           the name of a library that the app registered
//   embedded-elf-<arch>      a freestanding ELF file, loaded from memory by elf_loader
//   system-elf-<arch>        the bytes of a shared library, loaded by the system's loader
#pragma once

#include "hal/device.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/drivers/local/executable.hpp"

namespace baton::hal::drivers::local {

// As formats spell it: "x86_64", "arm_64".
std::string_view host_code_architecture();
FormatMatch match_code_format(std::string_view format);
// Whether the app has it already: nothing is loaded.
bool is_linked_code(std::string_view format);
Result<LoadedCode> load_code(const Options& options, const ExecutableVariant& variant);

}  // namespace baton::hal::drivers::local
