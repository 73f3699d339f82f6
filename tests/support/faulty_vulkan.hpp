// FaultyVulkan: the machine's Vulkan with faults. A library stands in front of the loader; every call that the driver makes
// goes through it, and one of them can be made to fail.
//
// faulty_libvulkan.cpp is the library; whoever opens it before the driver opens libvulkan.so.1 has it in its place, because
// it says that this is its name.
// Threads: calls are counted and fail on any thread; the rest is set while none are made.
#pragma once

#include <atomic>
#include <cstdint>

namespace baton::testing_support {

struct FaultyVulkan {
  // The calls that return a VkResult are numbered from 0 on, since this was set to 0.
  std::atomic<uint32_t> calls{0};
  // The number of the call that fails, and how; ~0: none does. It does not reach Vulkan.
  std::atomic<uint32_t> failing_call{~0u};
  std::atomic<int32_t> result{0};
  // The device is gone: from the call that failed on, those that can say so return VK_ERROR_DEVICE_LOST.
  std::atomic<bool> loses_device{false};
  std::atomic<bool> is_lost{false};
  std::atomic<const char*> failed{nullptr};  // The call that failed.

  std::atomic<uint32_t> loader_version{0};  // Unless 0, what the loader says.
  std::atomic<uint32_t> device_version{0};  // Unless 0, what each device says at most.
  std::atomic<bool> hides_devices{false};
  // Looks like a GPU with memory of its own: some of it the host cannot see, some it reads slowly.
  std::atomic<bool> looks_discrete{false};
};

}  // namespace baton::testing_support

// Of the library, by name.
inline constexpr const char* kFaultyVulkanName = "baton_faulty_vulkan";
using FaultyVulkanEntry = baton::testing_support::FaultyVulkan* (*)();
