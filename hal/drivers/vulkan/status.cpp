#include "hal/drivers/vulkan/status.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

struct Meaning {
  VkResult result;
  const char* name;
  StatusCode code;
};

constexpr Meaning kMeanings[] = {
    {VK_SUCCESS, "VK_SUCCESS", StatusCode::kOk},
    {VK_NOT_READY, "VK_NOT_READY", StatusCode::kUnavailable},
    {VK_TIMEOUT, "VK_TIMEOUT", StatusCode::kDeadlineExceeded},
    {VK_INCOMPLETE, "VK_INCOMPLETE", StatusCode::kInternal},
    {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY", StatusCode::kResourceExhausted},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY", StatusCode::kResourceExhausted},
    {VK_ERROR_OUT_OF_POOL_MEMORY, "VK_ERROR_OUT_OF_POOL_MEMORY", StatusCode::kResourceExhausted},
    {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS", StatusCode::kResourceExhausted},
    {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED", StatusCode::kUnavailable},
    {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER", StatusCode::kUnavailable},
    {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT", StatusCode::kUnavailable},
    {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT", StatusCode::kUnimplemented},
    {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT", StatusCode::kUnimplemented},
    {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST", StatusCode::kDataLoss},
    {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED", StatusCode::kResourceExhausted},
    {VK_ERROR_INVALID_EXTERNAL_HANDLE, "VK_ERROR_INVALID_EXTERNAL_HANDLE", StatusCode::kInvalidArgument},
    {VK_ERROR_INVALID_SHADER_NV, "VK_ERROR_INVALID_SHADER_NV", StatusCode::kInvalidArgument},
};

constexpr Meaning meaning_of(VkResult result) {
  for (const Meaning& one : kMeanings) {
    if (one.result == result) return one;
  }
  return {result, "an unknown result of Vulkan", StatusCode::kInternal};
}

}  // namespace

StatusCode status_code(VkResult result) { return meaning_of(result).code; }

Status vulkan_failure(VkResult result, const char* call) {
  const Meaning meaning = meaning_of(result);
  return failure(meaning.code, call, " failed: ", meaning.name, " (", static_cast<int>(result), ").");
}

}  // namespace baton::hal::drivers::vulkan
