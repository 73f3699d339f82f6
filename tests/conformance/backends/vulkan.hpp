// What the Vulkan backends share: the machine's device, watched by the validation layer, and the suite's kernels.
#pragma once

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {

// The first Vulkan device; UNAVAILABLE "skipped: no Vulkan device (...)" where there is none. What the validation layer
// says fails the test that runs; where the layer is not installed, it says so once.
Result<Ref<Device>> open_vulkan();

// By addresses, or by descriptors.
std::vector<ExecutableVariant> vulkan_kernels(bool by_address);
std::vector<Exemption> vulkan_unsupported();

}  // namespace baton::hal::conformance
