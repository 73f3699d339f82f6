// VkResult → Status: one table of meanings, one sentence.
#pragma once

#include "hal/drivers/vulkan/symbols.hpp"

namespace baton::hal::drivers::vulkan {

StatusCode status_code(VkResult result);
// "vkQueueSubmit failed: VK_ERROR_DEVICE_LOST (-4)."
Status vulkan_failure(VkResult result, const char* call);

}  // namespace baton::hal::drivers::vulkan

// Calls an entry of `symbols`; returns a failure to the caller, goes on when it succeeded.
#define BATON_VULKAN_TRY(symbols, entry, ...)                                                                   \
  do {                                                                                                          \
    if (const VkResult baton_vulkan_result_ = (symbols).entry(__VA_ARGS__); baton_vulkan_result_ != VK_SUCCESS) \
        [[unlikely]]                                                                                            \
      return ::baton::hal::drivers::vulkan::vulkan_failure(baton_vulkan_result_, #entry);                       \
  } while (false)
