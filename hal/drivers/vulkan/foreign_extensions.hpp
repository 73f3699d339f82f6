// What custom commands and foreign calls on Vulkan may ask for.
#pragma once

#include <cstdint>

namespace baton::hal::drivers::vulkan {

inline constexpr char kCommandBufferExtension[] = "vulkan.command_buffer.v1";

// Handles as Vulkan's headers name them, so that only code that records needs those headers. The command buffer is
// a primary one that has begun, behind all that the recording did before; whoever gets it must leave it recording,
// outside of queries and render passes. It is ended by the next command or when the call returns, and submitted in its
// place each time that the recording runs.
struct CommandBufferV1 {
  uint32_t struct_size = sizeof(CommandBufferV1);
  uint32_t queue_family = 0;
  void* physical_device = nullptr;       // VkPhysicalDevice
  void* device = nullptr;                // VkDevice
  void* command_buffer = nullptr;        // VkCommandBuffer
  void* get_device_proc_addr = nullptr;  // PFN_vkGetDeviceProcAddr
};

}  // namespace baton::hal::drivers::vulkan
