// Recognizes from the bytes which format device code has: for callers that have a file and no format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace baton::hal {

// How files of device code begin, read as a little-endian word; SPIR-V's is spirv::kMagic.
inline constexpr uint32_t kElfMagic = 0x464c457f, kFatbinMagic = 0xba55ed50, kFatElfMagic = 0x1f0e70fa,
                          kLtoIrMagic = 0x7f4e43ed;
inline constexpr std::string_view kArchiveStart = "!<arch>\n";
inline constexpr uint16_t kMachineCuda = 190;  // EM_CUDA, which not every <elf.h> has.

// "cuda-sm_90", "cuda-fatbin", "cuda-ptx", "vulkan-spirv-fb", "embedded-elf-x86_64"; INVALID_ARGUMENT for anything else,
// and for parts that a linker makes code of, which it names.
Result<std::string> tell_code_format(std::span<const std::byte> code);

// The names of a SPIR-V module's entry points for compute.
Result<std::vector<std::string>> spirv_entry_points(std::span<const std::byte> code);

// 90 for a cubin for sm_90; 0 for anything else, and for cubins of other ABIs than those known here.
int cubin_arch(std::span<const std::byte> code);

}  // namespace baton::hal
