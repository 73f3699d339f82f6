// Recognizes from the bytes which format device code has: for callers that have a file and no format.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace baton::hal {

// "cuda-sm_90", "cuda-fatbin", "cuda-ptx", "vulkan-spirv-fb", "embedded-elf-x86_64"; INVALID_ARGUMENT for anything else.
Result<std::string> tell_code_format(std::span<const std::byte> code);

// The names of a SPIR-V module's entry points for compute.
Result<std::vector<std::string>> spirv_entry_points(std::span<const std::byte> code);

// 90 for a cubin for sm_90; 0 for anything else, and for cubins of other ABIs than those known here.
int cubin_arch(std::span<const std::byte> code);

}  // namespace baton::hal
