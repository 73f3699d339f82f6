// DeviceFacts: what is known of a physical device before it is opened: its name, limits, memory, and the features that
// Baton turns on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hal/driver.hpp"
#include "hal/drivers/vulkan/instance.hpp"

namespace baton::hal::drivers::vulkan {

// The structures of features, chained. Not copied once linked: the links point into it.
struct FeatureChain {
  VkPhysicalDeviceFeatures2 core{};
  VkPhysicalDeviceVulkan11Features v11{};
  VkPhysicalDeviceVulkan12Features v12{};
  VkPhysicalDeviceVulkan13Features v13{};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT float_atomics{};
  VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR shared_layout{};

  // What the device knows of the last three.
  struct Known {
    bool v13 = false;
    bool float_atomics = false;
    bool shared_layout = false;
  };
  void link(const Known& known);
};

struct DeviceFacts {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string name;
  std::string uuid;  // "6b5a1c2e-..." in lower case.
  uint32_t api_version = 0;
  uint32_t driver_version = 0;
  bool software = false;  // It computes on the CPU.
  VkPhysicalDeviceLimits limits{};
  VkPhysicalDeviceMemoryProperties memory{};
  uint64_t allocation_bytes_max = 0;
  uint32_t subgroup_size = 0;
  VkSubgroupFeatureFlags subgroup_operations = 0;  // Of kernels.
  // Sizes that a kernel may ask for, in workgroups of so many subgroups; 0: it gets what there is.
  uint32_t subgroup_size_min = 0, subgroup_size_max = 0, subgroups_max = 0;
  VkPhysicalDeviceFloatControlsProperties float_controls{};  // Its chain is ended.
  uint32_t queue_family = 0;
  uint32_t timestamp_bits = 0;
  uint64_t imported_host_alignment = 0;  // 0: host memory cannot be imported.
  FeatureChain::Known known_features;
  FeatureChain features;  // What Baton turns on, of what there is. Not linked.
  std::string obstacle;   // Why Baton cannot use it; empty: it can.

  // Of a grid that a command buffer of Vulkan gets.
  std::span<const uint32_t, 3> grid_max() const {
    return std::span<const uint32_t, 3>(limits.maxComputeWorkGroupCount);
  }
  // Those that are turned on.
  std::vector<const char*> extensions() const;
  bool has_13() const { return api_version >= VK_API_VERSION_1_3; }
  uint64_t memory_bytes() const;
};

// Of all devices: hardware first, then software, each in the loader's order.
Result<std::vector<DeviceFacts>> list_devices(const Instance& instance);

// "1.3.230".
std::string version_text(uint32_t version);
DeviceInfo describe(const DeviceFacts& facts, size_t index);

}  // namespace baton::hal::drivers::vulkan
