// What a library of kernels knows of SPIR-V without a device: the names in it.
#pragma once

#include <span>
#include <string_view>

#include "hal/executable.hpp"

namespace baton::modules {

bool is_spirv(std::string_view format);

// Whether some of the variants, those that are SPIR-V, have the kernel; else NOT_FOUND with the nearest names.
Status find_in_spirv(std::string_view library, std::span<const hal::ExecutableVariant> variants, std::string_view name);

}  // namespace baton::modules
