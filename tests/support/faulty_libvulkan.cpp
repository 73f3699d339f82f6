// The library of faulty_vulkan.hpp: libvulkan.so.1 for whoever opens it, with the machine's loader behind it.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <type_traits>

#include "hal/drivers/vulkan/symbols.hpp"
#include "tests/support/faulty_vulkan.hpp"

namespace baton::testing_support {
namespace {

FaultyVulkan& faults() {
  static FaultyVulkan one;
  static const bool told = [] {
    one.looks_discrete = std::getenv("BATON_FAULTY_VULKAN_DISCRETE") != nullptr;
    return true;
  }();
  (void)told;
  return one;
}

#define LOADER(name) k_##name,
#define INSTANCE(name) k_##name,
#define DEVICE(name) k_##name,
#define OPTIONAL_DEVICE(name) k_##name,
enum Entry : size_t {
#include "hal/drivers/vulkan/symbols.inc"
  kEntryCount
};
#undef LOADER
#undef INSTANCE
#undef DEVICE
#undef OPTIONAL_DEVICE

// What stands behind each entry. All devices of a process are of one kind here, so there is one.
std::atomic<PFN_vkVoidFunction> real[kEntryCount];

// Whose queue it is: that of the device that was made last.
std::atomic<VkDevice> queue_device{VK_NULL_HANDLE};

template <typename Function>
Function behind(Entry entry) {
  return reinterpret_cast<Function>(real[entry].load());
}
#define BEHIND(name) behind<PFN_##name>(k_##name)

bool can_say_lost(Entry entry) {
  return entry == k_vkQueueSubmit || entry == k_vkWaitSemaphores || entry == k_vkGetSemaphoreCounterValue ||
         entry == k_vkDeviceWaitIdle || entry == k_vkGetQueryPoolResults;
}

// Of the machine's queue: a submission and the end of the device may be on different threads.
std::recursive_mutex queue_mutex;

// Nothing is in flight on a device that is lost, and nothing comes: the machine's own is brought there.
template <typename First>
void lose_device(First first) {
  const std::lock_guard lock(queue_mutex);
  if constexpr (std::is_same_v<First, VkDevice>) {
    if (const auto wait = BEHIND(vkDeviceWaitIdle)) wait(first);
  }
  if constexpr (std::is_same_v<First, VkQueue>) {
    if (const auto wait = BEHIND(vkDeviceWaitIdle)) wait(queue_device.load());
  }
  faults().is_lost = true;
}

// What the call returns without reaching Vulkan; VK_SUCCESS: it goes on.
template <typename First>
VkResult fault(Entry entry, const char* name, First first) {
  FaultyVulkan& now = faults();
  if (now.is_lost && can_say_lost(entry)) return VK_ERROR_DEVICE_LOST;
  if (now.calls++ != now.failing_call) return VK_SUCCESS;
  now.failed = name;
  if (now.loses_device && can_say_lost(entry)) lose_device(first);
  return static_cast<VkResult>(now.result.load());
}

template <typename Function>
struct Through;
template <typename Returned, typename First, typename... Arguments>
struct Through<Returned(VKAPI_PTR*)(First, Arguments...)> {
  template <Entry kEntry>
  static VKAPI_ATTR Returned VKAPI_CALL call(First first, Arguments... arguments);
};

constexpr const char* kNames[] = {
#define LOADER(name) #name,
#define INSTANCE(name) #name,
#define DEVICE(name) #name,
#define OPTIONAL_DEVICE(name) #name,
#include "hal/drivers/vulkan/symbols.inc"
#undef LOADER
#undef INSTANCE
#undef DEVICE
#undef OPTIONAL_DEVICE
};

template <typename Returned, typename First, typename... Arguments>
template <Entry kEntry>
VKAPI_ATTR Returned VKAPI_CALL Through<Returned(VKAPI_PTR*)(First, Arguments...)>::call(First first,
                                                                                        Arguments... arguments) {
  std::unique_lock lock(queue_mutex, std::defer_lock);
  if (kEntry == k_vkQueueSubmit) lock.lock();
  if constexpr (std::is_same_v<Returned, VkResult>) {
    if (const VkResult result = fault(kEntry, kNames[kEntry], first); result != VK_SUCCESS) return result;
  }
  return behind<Returned(VKAPI_PTR*)(First, Arguments...)>(kEntry)(first, arguments...);
}

// ---- What is told otherwise -----------------------------------------------------------------------------------------

VKAPI_ATTR VkResult VKAPI_CALL tell_version(uint32_t* version) {
  const uint32_t told = faults().loader_version;
  if (told == 0) return BEHIND(vkEnumerateInstanceVersion)(version);
  *version = told;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL tell_devices(VkInstance instance, uint32_t* count, VkPhysicalDevice* devices) {
  if (!faults().hides_devices) {
    return Through<PFN_vkEnumeratePhysicalDevices>::call<k_vkEnumeratePhysicalDevices>(instance, count, devices);
  }
  *count = 0;
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tell_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* properties) {
  BEHIND(vkGetPhysicalDeviceProperties2)(device, properties);
  const uint32_t told = faults().device_version;
  if (told != 0) properties->properties.apiVersion = std::min(properties->properties.apiVersion, told);
}

// Where it looks discrete, all types are the machine's first.
VKAPI_ATTR void VKAPI_CALL tell_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties* memory) {
  BEHIND(vkGetPhysicalDeviceMemoryProperties)(device, memory);
  if (!faults().looks_discrete) return;
  constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                  kSeen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                  kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  constexpr VkMemoryPropertyFlags kTypes[] = {0, kLocal, kSeen, kSeen | kCached, kLocal | kSeen};
  memory->memoryTypeCount = std::size(kTypes);
  for (uint32_t type = 0; type < std::size(kTypes); ++type) memory->memoryTypes[type] = {kTypes[type], 0};
}

constexpr uint32_t kDiscreteTypes = 0x1f;

VKAPI_ATTR void VKAPI_CALL tell_needs(VkDevice device, VkBuffer buffer, VkMemoryRequirements* needs) {
  BEHIND(vkGetBufferMemoryRequirements)(device, buffer, needs);
  if (faults().looks_discrete) needs->memoryTypeBits = kDiscreteTypes;
}

VKAPI_ATTR VkResult VKAPI_CALL tell_imported(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                                             const void* pointer, VkMemoryHostPointerPropertiesEXT* properties) {
  const VkResult result = Through<PFN_vkGetMemoryHostPointerPropertiesEXT>::call<k_vkGetMemoryHostPointerPropertiesEXT>(
      device, type, pointer, properties);
  if (result == VK_SUCCESS && faults().looks_discrete) properties->memoryTypeBits = kDiscreteTypes;
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* wanted,
                                        const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  VkMemoryAllocateInfo info = *wanted;
  if (faults().looks_discrete) info.memoryTypeIndex = 0;
  return Through<PFN_vkAllocateMemory>::call<k_vkAllocateMemory>(device, &info, callbacks, memory);
}

VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue* queue) {
  queue_device = device;
  BEHIND(vkGetDeviceQueue)(device, family, index, queue);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_in_device(VkDevice device, const char* name);

struct Told {
  Entry entry;
  PFN_vkVoidFunction by;
};
#define TOLD(name, by) \
  { k_##name, reinterpret_cast<PFN_vkVoidFunction>(by) }
const Told kTold[] = {
    TOLD(vkEnumerateInstanceVersion, tell_version),
    TOLD(vkEnumeratePhysicalDevices, tell_devices),
    TOLD(vkGetPhysicalDeviceProperties2, tell_properties),
    TOLD(vkGetPhysicalDeviceMemoryProperties, tell_memory),
    TOLD(vkGetBufferMemoryRequirements, tell_needs),
    TOLD(vkGetMemoryHostPointerPropertiesEXT, tell_imported),
    TOLD(vkAllocateMemory, allocate),
    TOLD(vkGetDeviceProcAddr, find_in_device),
    TOLD(vkGetDeviceQueue, get_queue),
};

// The entry of this library for `name`, which leads to `found`; or `found` itself where it has none.
PFN_vkVoidFunction in_front_of(PFN_vkVoidFunction found, const char* name) {
  static const PFN_vkVoidFunction kThrough[] = {
#define LOADER(name) reinterpret_cast<PFN_vkVoidFunction>(&Through<PFN_##name>::template call<k_##name>),
#define INSTANCE(name) LOADER(name)
#define DEVICE(name) LOADER(name)
#define OPTIONAL_DEVICE(name) LOADER(name)
#include "hal/drivers/vulkan/symbols.inc"
#undef LOADER
#undef INSTANCE
#undef DEVICE
#undef OPTIONAL_DEVICE
  };
  if (!found) return nullptr;
  const auto* const known =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const char* one) { return std::strcmp(one, name) == 0; });
  if (known == std::end(kNames)) return found;
  const auto entry = static_cast<Entry>(known - kNames);
  real[entry] = found;
  for (const Told& told : kTold) {
    if (told.entry == entry) return told.by;
  }
  return kThrough[entry];
}

PFN_vkGetInstanceProcAddr loader() {
  static const auto find = [] {
    void* const library = dlopen(BATON_VULKAN_LOADER, RTLD_NOW | RTLD_LOCAL);
    void* const entry = library ? dlsym(library, "vkGetInstanceProcAddr") : nullptr;
    return reinterpret_cast<PFN_vkGetInstanceProcAddr>(entry);
  }();
  return find;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_in_device(VkDevice device, const char* name) {
  return in_front_of(BEHIND(vkGetDeviceProcAddr)(device, name), name);
}

}  // namespace
}  // namespace baton::testing_support

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction VKAPI_CALL
vkGetInstanceProcAddr(VkInstance instance, const char* name) {  // NOLINT: Vulkan's name
  const auto find = baton::testing_support::loader();
  return find ? baton::testing_support::in_front_of(find(instance, name), name) : nullptr;
}

extern "C" __attribute__((visibility("default"))) baton::testing_support::FaultyVulkan*
baton_faulty_vulkan() {  // NOLINT: kFaultyVulkanName
  return &baton::testing_support::faults();
}
