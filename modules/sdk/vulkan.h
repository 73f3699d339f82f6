/* What a foreign function on a Vulkan device has besides: structs for `extension` of baton_foreign_arguments. Frozen:
 * append only. Handles are void* so that this header needs none of Vulkan's.
 *
 * A device that runs nothing fills the structs with zeros: then there is nothing to record on. */
#ifndef BATON_MODULES_SDK_VULKAN_H_
#define BATON_MODULES_SDK_VULKAN_H_

#include <stdint.h>

#include "modules/sdk/status.h"

/* A primary command buffer that has begun, behind all that the recording did before; the function leaves it recording,
 * outside of queries and render passes. It is ended and submitted when the function returns, each time that the
 * recording runs. What is recorded reaches the bindings by their addresses, which are device addresses of Vulkan. */
#define BATON_VULKAN_COMMAND_BUFFER_V1 "vulkan.command_buffer.v1"
typedef struct baton_vulkan_command_buffer {
  uint32_t struct_size;
  uint32_t queue_family;
  void* physical_device;      /* VkPhysicalDevice */
  void* device;               /* VkDevice */
  void* command_buffer;       /* VkCommandBuffer; NULL: nothing is run */
  void* get_device_proc_addr; /* PFN_vkGetDeviceProcAddr */
} baton_vulkan_command_buffer;

#endif
