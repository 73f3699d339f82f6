// Dynamic functions: SPIR-V that the host registered, linked with a program's when that is loaded.
//
// A program's code says by linkage what it lacks. What is found comes along with all that it calls, under new ids; each
// import becomes a function that hands its arguments on. One that may be missing (spirv::kOptionalImport) gives zero then,
// and its question (spirv::kIsThere) says so, so that it is never called. Code that asks for nothing is never linked.
// Threads: immutable.
#pragma once

#include <span>
#include <vector>

#include "hal/drivers/vulkan/driver.hpp"

namespace baton::hal::drivers::vulkan {

// The code with the functions in it and without linkage; empty when there is nothing to link, and the code is loaded as it
// is. NOT_FOUND for what nobody provides, INVALID_ARGUMENT for functions of other types, ALREADY_EXISTS for two of one name.
Result<std::vector<std::byte>> link_functions(std::span<const std::byte> code,
                                              std::span<const DeviceFunctions> functions);

}  // namespace baton::hal::drivers::vulkan
