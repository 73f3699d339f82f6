/* What a command buffer on a Vulkan device offers in addition: structs for `extension` of baton_recording_table, while a custom
 * command records, and of baton_foreign_arguments, while a foreign function is called. Frozen: append only. Handles are
 * void* so that this header needs none of Vulkan's.
 *
 * Slots have no buffers while a command records, so what works on bindings is recorded in a foreign function.
 * A device that runs nothing fills the structs with zeros: then there is nothing to record on. */
#ifndef BATON_MODULES_SDK_VULKAN_H_
#define BATON_MODULES_SDK_VULKAN_H_

#include <stdint.h>

#include "modules/sdk/status.h"

/* A primary command buffer that has begun, behind all that the recording did before; whoever gets it leaves it recording,
 * outside of queries and render passes. It is ended by the next command, or when the function returns, and submitted in
 * its place each time that the recording runs; it may be in flight several times at once. A foreign function is called
 * when a table of buffers is new: what it recorded is kept for the last eight. It reaches the bindings by their
 * addresses, which are device addresses of Vulkan. One that never asks for a command buffer is taken for work of the
 * host, and called in its turn whenever the recording runs; only then, and the first time, are there addresses for the
 * host, where it can see the memory.
 *
 * get_device_proc_addr finds Vulkan's functions. Those that would begin, end, reset or free this command buffer, and
 * those that submit work or wait for the device, are refused meanwhile, and fail the command. */
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
