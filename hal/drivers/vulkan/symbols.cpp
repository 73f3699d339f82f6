#include "hal/drivers/vulkan/symbols.hpp"

#include <dlfcn.h>

namespace baton::hal::drivers::vulkan {
namespace {

void* open_library() {
  void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? library : dlopen("libvulkan.so", RTLD_NOW | RTLD_LOCAL);
}

Status absent(std::string_view what, std::string_view name) {
  return failure(StatusCode::kUnavailable, "The Vulkan ", what, " is too old: it has no '", name,
                 "'; Baton needs Vulkan 1.2.");
}

template <typename Function>
bool find_entry(Function& entry, PFN_vkVoidFunction found) {
  entry = reinterpret_cast<Function>(found);
  return entry != nullptr;
}

}  // namespace

Result<LoaderSymbols> load_loader() {
  void* library = open_library();
  if (!library) {
    return failure(StatusCode::kUnavailable, "No Vulkan: libvulkan.so.1 cannot be opened (", dlerror(), ").");
  }
  LoaderSymbols symbols;
  symbols.vkGetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (!symbols.vkGetInstanceProcAddr) return absent("loader", "vkGetInstanceProcAddr");
#define LOADER(name) \
  if (!find_entry(symbols.name, symbols.vkGetInstanceProcAddr(nullptr, #name))) return absent("loader", #name);
#define INSTANCE(name)
#define DEVICE(name)
#define OPTIONAL_DEVICE(name)
#include "hal/drivers/vulkan/symbols.inc"
#undef LOADER
#undef INSTANCE
  return symbols;
}

PFN_vkVoidFunction find_in_loader(const char* name) {
  void* const library = open_library();
  return library ? reinterpret_cast<PFN_vkVoidFunction>(dlsym(library, name)) : nullptr;
}

Result<InstanceSymbols> load_instance_symbols(const LoaderSymbols& loader, VkInstance instance) {
  InstanceSymbols symbols;
#define LOADER(name)
#define INSTANCE(name) \
  if (!find_entry(symbols.name, loader.vkGetInstanceProcAddr(instance, #name))) return absent("loader", #name);
#include "hal/drivers/vulkan/symbols.inc"
#undef INSTANCE
#undef DEVICE
#undef OPTIONAL_DEVICE
  return symbols;
}

Result<DeviceSymbols> load_device_symbols(const InstanceSymbols& instance, VkDevice device) {
  DeviceSymbols symbols;
#define INSTANCE(name)
#define DEVICE(name) \
  if (!find_entry(symbols.name, instance.vkGetDeviceProcAddr(device, #name))) return absent("driver", #name);
#define OPTIONAL_DEVICE(name) find_entry(symbols.name, instance.vkGetDeviceProcAddr(device, #name));
#include "hal/drivers/vulkan/symbols.inc"
#undef LOADER
#undef INSTANCE
#undef DEVICE
#undef OPTIONAL_DEVICE
  return symbols;
}

}  // namespace baton::hal::drivers::vulkan
