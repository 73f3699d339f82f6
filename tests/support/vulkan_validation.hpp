// Vulkan devices for tests, watched by Khronos' validation layer: what it says fails the test that runs.
#pragma once

#include "hal/device.hpp"

namespace baton {
class Timeline;
}

namespace baton::testing_support {

// The machine's first Vulkan device: hardware, else software; or that with the beginning of a name or UUID, or the
// index, that BATON_VULKAN_DEVICE says. UNAVAILABLE where there is none. Without the layer the device is opened all the
// same, and standard error says so once. Under ThreadSanitizer nothing watches: the layer's locks are not its business.
// `timeline`: where the device tells when it ran what.
Result<Ref<hal::Device>> open_watched_vulkan(Timeline* timeline = nullptr);

}  // namespace baton::testing_support
