// Which capabilities of SPIR-V a device can run, with the features that Baton turned on.
#pragma once

#include "hal/drivers/vulkan/device_facts.hpp"
#include "hal/drivers/vulkan/spirv_module.hpp"

namespace baton::hal::drivers::vulkan {

// UNIMPLEMENTED naming the capability, the version, or the limit that the device lacks.
Status check_features(const SpirvModule& module, const DeviceFacts& facts);
// Those of one kernel: a device may be unable to treat floats of two sizes differently.
Status check_float_modes(const SpirvEntryPoint& entry, const DeviceFacts& facts);
Status check_limits(const SpirvEntryPoint& entry, const DeviceFacts& facts);

// What a kernel that is written for subgroups of so many threads asks for; 0: it gets them anyway, or any will do.
Result<uint32_t> required_subgroup_size(const SpirvEntryPoint& entry, uint32_t threads, const DeviceFacts& facts);

// Whether threads can hand over what they hold (spirv::kHandsOver), in workgroups that are whole subgroups.
bool hands_over(const DeviceFacts& facts);
Status check_subgroups_are_whole(const SpirvEntryPoint& entry, const DeviceFacts& facts);

}  // namespace baton::hal::drivers::vulkan
