// Device code with functions that kernels of programs import, as apps and tools give it to the drivers of CUDA and Vulkan.
//
// It is given before a device is opened. Programs that import nothing are not touched by it; a function that nobody has or that
// two have is found out when a program that imports any is loaded (linked_functions.hpp of the driver).
// Threads: functions of their arguments alone.
#pragma once

#include <span>
#include <string>

#include "hal/drivers/register_drivers.hpp"

namespace baton::modules {

// Whether the bytes are what CUDA's linkers take, PTX, a cubin, a fatbin, a relocatable object, an archive, LTO-IR, or
// SPIR-V, which Vulkan's does.
bool is_device_code(std::span<const std::byte> bytes);

// Adds a copy of the code to the driver that takes it, and to CUDA's the linker of this machine for what its own does not
// take. `name`: for messages.
Status add_device_functions(std::string name, std::span<const std::byte> code, hal::drivers::DriverOptions& options);

// nvJitLink, opened when it is needed; without it on the machine a link says so.
std::shared_ptr<const hal::drivers::cuda::DeviceLinker> device_linker();

// Refuses device functions for a device that links none, "local-sync", or code of another kind.
Status check_takes_device_functions(std::string_view uri, std::string_view name, std::span<const std::byte> code);

}  // namespace baton::modules
