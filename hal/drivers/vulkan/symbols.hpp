// Symbols: the entries of Vulkan, found at run time: the loader's in libvulkan, those of an instance and of a device by
// asking it, so that calls of a device go past the loader. The one header that includes Vulkan's.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#include "base/result.hpp"

namespace baton::hal::drivers::vulkan {

struct LoaderSymbols {
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
#define LOADER(name) PFN_##name name = nullptr;
#define INSTANCE(name)
#define DEVICE(name)
#define OPTIONAL_DEVICE(name)
#include "hal/drivers/vulkan/symbols.inc"
#undef LOADER
#undef INSTANCE
};

struct InstanceSymbols {
#define LOADER(name)
#define INSTANCE(name) PFN_##name name = nullptr;
#include "hal/drivers/vulkan/symbols.inc"
#undef INSTANCE
#undef DEVICE
#undef OPTIONAL_DEVICE
};

struct DeviceSymbols {
#define INSTANCE(name)
#define DEVICE(name) PFN_##name name = nullptr;
#define OPTIONAL_DEVICE(name) PFN_##name name = nullptr;
#include "hal/drivers/vulkan/symbols.inc"
#undef LOADER
#undef INSTANCE
#undef DEVICE
#undef OPTIONAL_DEVICE
};

// Opens libvulkan; it stays open for the life of the process, for drivers have threads of their own. UNAVAILABLE, with
// the reason, where there is none.
Result<LoaderSymbols> load_loader();
// An entry of the loader that works for every device; null where it has none of that name, or cannot be opened.
PFN_vkVoidFunction find_in_loader(const char* name);
Result<InstanceSymbols> load_instance_symbols(const LoaderSymbols& loader, VkInstance instance);
Result<DeviceSymbols> load_device_symbols(const InstanceSymbols& symbols, VkDevice device);

}  // namespace baton::hal::drivers::vulkan
