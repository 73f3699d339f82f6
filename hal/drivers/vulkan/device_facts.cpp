#include "hal/drivers/vulkan/device_facts.hpp"

#include <algorithm>
#include <cstring>

#include "hal/drivers/vulkan/spirv_features.hpp"
#include "hal/drivers/vulkan/status.hpp"
#include "hal/interface/spirv.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

std::string uuid_text(const uint8_t (&bytes)[VK_UUID_SIZE]) {
  constexpr char digits[] = "0123456789abcdef";
  std::string uuid;
  for (size_t i = 0; i < VK_UUID_SIZE; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += digits[bytes[i] >> 4];
    uuid += digits[bytes[i] & 15];
  }
  return uuid;
}

Result<std::vector<VkExtensionProperties>> extensions_of(const InstanceSymbols& symbols, VkPhysicalDevice device) {
  uint32_t count = 0;
  BATON_VULKAN_TRY(symbols, vkEnumerateDeviceExtensionProperties, device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  BATON_VULKAN_TRY(symbols, vkEnumerateDeviceExtensionProperties, device, nullptr, &count, extensions.data());
  return extensions;
}

bool has_extension(std::span<const VkExtensionProperties> extensions, const char* name) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const VkExtensionProperties& one) { return std::strcmp(one.extensionName, name) == 0; });
}

// A family that only computes leaves the one for graphics to others; any that computes will do.
void choose_family(const InstanceSymbols& symbols, DeviceFacts& facts) {
  uint32_t count = 0;
  symbols.vkGetPhysicalDeviceQueueFamilyProperties(facts.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  symbols.vkGetPhysicalDeviceQueueFamilyProperties(facts.handle, &count, families.data());
  int best = -1;
  for (uint32_t family = 0; family < count; ++family) {
    const VkQueueFlags flags = families[family].queueFlags;
    if (!(flags & VK_QUEUE_COMPUTE_BIT)) continue;
    const int rank = flags & VK_QUEUE_GRAPHICS_BIT ? 0 : 1;
    if (rank <= best) continue;
    best = rank;
    facts.queue_family = family;
    facts.timestamp_bits = families[family].timestampValidBits;
  }
  if (best < 0) facts.obstacle = "it has no queue that computes";
}

void ask_properties(const InstanceSymbols& symbols, DeviceFacts& facts) {
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{};
  host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
  VkPhysicalDeviceSubgroupProperties subgroups{};
  subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  VkPhysicalDeviceMaintenance3Properties sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  VkPhysicalDeviceFloatControlsProperties floats{};
  floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  VkPhysicalDeviceIDProperties ids{};
  ids.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &ids;
  ids.pNext = &sizes;
  sizes.pNext = &subgroups;
  subgroups.pNext = &floats;
  if (facts.imported_host_alignment != 0) floats.pNext = &host;
  symbols.vkGetPhysicalDeviceProperties2(facts.handle, &properties);
  facts.name = properties.properties.deviceName;
  facts.uuid = uuid_text(ids.deviceUUID);
  facts.api_version = properties.properties.apiVersion;
  facts.driver_version = properties.properties.driverVersion;
  facts.software = properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  facts.limits = properties.properties.limits;
  facts.allocation_bytes_max = sizes.maxMemoryAllocationSize;
  facts.float_controls = floats;
  facts.float_controls.pNext = nullptr;
  facts.subgroup_size = subgroups.subgroupSize;
  if (subgroups.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT)
    facts.subgroup_operations = subgroups.supportedOperations;
  if (facts.imported_host_alignment != 0) facts.imported_host_alignment = host.minImportedHostPointerAlignment;
  symbols.vkGetPhysicalDeviceMemoryProperties(facts.handle, &facts.memory);
}

// Once it is known what is turned on.
void ask_subgroup_sizes(const InstanceSymbols& symbols, DeviceFacts& facts) {
  if (!facts.has_13() || !facts.features.v13.subgroupSizeControl) return;
  VkPhysicalDeviceSubgroupSizeControlProperties sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &sizes;
  symbols.vkGetPhysicalDeviceProperties2(facts.handle, &properties);
  if (!(sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT)) return;
  facts.subgroup_size_min = sizes.minSubgroupSize;
  facts.subgroup_size_max = sizes.maxSubgroupSize;
  facts.subgroups_max = sizes.maxComputeWorkgroupSubgroups;
}

// Of what the device has, what kernels may want. Everything else stays off: some features cost where they are on.
void choose_features(const FeatureChain& has, FeatureChain& on) {
#define BATON_TURN_ON(part, name) on.part.name = has.part.name
  BATON_TURN_ON(core, features.robustBufferAccess);
  BATON_TURN_ON(core, features.shaderFloat64);
  BATON_TURN_ON(core, features.shaderInt64);
  BATON_TURN_ON(core, features.shaderInt16);
  BATON_TURN_ON(v11, storageBuffer16BitAccess);
  BATON_TURN_ON(v11, uniformAndStorageBuffer16BitAccess);
  BATON_TURN_ON(v11, storagePushConstant16);
  BATON_TURN_ON(v11, variablePointersStorageBuffer);
  BATON_TURN_ON(v11, variablePointers);
  BATON_TURN_ON(v12, storageBuffer8BitAccess);
  BATON_TURN_ON(v12, uniformAndStorageBuffer8BitAccess);
  BATON_TURN_ON(v12, storagePushConstant8);
  BATON_TURN_ON(v12, shaderBufferInt64Atomics);
  BATON_TURN_ON(v12, shaderSharedInt64Atomics);
  BATON_TURN_ON(v12, shaderFloat16);
  BATON_TURN_ON(v12, shaderInt8);
  BATON_TURN_ON(v12, scalarBlockLayout);
  BATON_TURN_ON(v12, shaderSubgroupExtendedTypes);
  BATON_TURN_ON(v12, timelineSemaphore);
  BATON_TURN_ON(v12, bufferDeviceAddress);
  BATON_TURN_ON(v12, vulkanMemoryModel);
  BATON_TURN_ON(v12, vulkanMemoryModelDeviceScope);
  BATON_TURN_ON(v13, subgroupSizeControl);
  BATON_TURN_ON(v13, computeFullSubgroups);
  BATON_TURN_ON(v13, maintenance4);
  BATON_TURN_ON(v13, shaderIntegerDotProduct);
  BATON_TURN_ON(v13, shaderZeroInitializeWorkgroupMemory);
  BATON_TURN_ON(float_atomics, shaderBufferFloat32Atomics);
  BATON_TURN_ON(float_atomics, shaderBufferFloat32AtomicAdd);
  BATON_TURN_ON(float_atomics, shaderBufferFloat64Atomics);
  BATON_TURN_ON(float_atomics, shaderBufferFloat64AtomicAdd);
  BATON_TURN_ON(float_atomics, shaderSharedFloat32Atomics);
  BATON_TURN_ON(float_atomics, shaderSharedFloat32AtomicAdd);
  BATON_TURN_ON(float_atomics, shaderSharedFloat64Atomics);
  BATON_TURN_ON(float_atomics, shaderSharedFloat64AtomicAdd);
  BATON_TURN_ON(shared_layout, workgroupMemoryExplicitLayout);
  BATON_TURN_ON(shared_layout, workgroupMemoryExplicitLayoutScalarBlockLayout);
  BATON_TURN_ON(shared_layout, workgroupMemoryExplicitLayout8BitAccess);
  BATON_TURN_ON(shared_layout, workgroupMemoryExplicitLayout16BitAccess);
#undef BATON_TURN_ON
}

void ask_features(const InstanceSymbols& symbols, DeviceFacts& facts) {
  FeatureChain has;
  has.link(facts.known_features);
  symbols.vkGetPhysicalDeviceFeatures2(facts.handle, &has.core);
  choose_features(has, facts.features);
}

// What the driver itself, or its own kernels, cannot do without.
std::string obstacle_of(const DeviceFacts& facts) {
  if (facts.api_version < VK_API_VERSION_1_2) {
    return text("it has Vulkan ", version_text(facts.api_version), "; Baton needs 1.2");
  }
  const struct {
    VkBool32 has;
    const char* name;
  } needs[] = {{facts.features.v12.timelineSemaphore, "timelineSemaphore"},
               {facts.features.v12.bufferDeviceAddress, "bufferDeviceAddress"},
               {facts.features.core.features.shaderInt64, "shaderInt64"},
               {facts.features.v12.storageBuffer8BitAccess, "storageBuffer8BitAccess"}};
  for (const auto& need : needs) {
    if (!need.has) return text("it has no ", need.name);
  }
  return facts.obstacle;
}

Result<DeviceFacts> ask(const Instance& instance, VkPhysicalDevice device) {
  const InstanceSymbols& symbols = instance.symbols();
  DeviceFacts facts;
  facts.handle = device;
  BATON_TRY_ASSIGN(const std::vector<VkExtensionProperties> extensions, extensions_of(symbols, device));
  facts.imported_host_alignment = has_extension(extensions, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) ? 1 : 0;
  ask_properties(symbols, facts);
  facts.known_features = {facts.has_13(), has_extension(extensions, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME),
                          has_extension(extensions, VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME)};
  choose_family(symbols, facts);
  if (facts.api_version >= VK_API_VERSION_1_2) ask_features(symbols, facts);
  ask_subgroup_sizes(symbols, facts);
  facts.obstacle = obstacle_of(facts);
  return facts;
}

}  // namespace

void FeatureChain::link(const Known& known) {
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  float_atomics.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
  shared_layout.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR;
  core.pNext = &v11;
  v11.pNext = &v12;
  void** last = &v12.pNext;
  const auto append = [&](bool knows, auto& features) {
    features.pNext = nullptr;
    if (!knows) return;
    *last = &features;
    last = &features.pNext;
  };
  *last = nullptr;
  append(known.v13, v13);
  append(known.float_atomics, float_atomics);
  append(known.shared_layout, shared_layout);
}

std::vector<const char*> DeviceFacts::extensions() const {
  std::vector<const char*> names;
  if (imported_host_alignment != 0) names.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (known_features.float_atomics) names.push_back(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  if (known_features.shared_layout) names.push_back(VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME);
  return names;
}

uint64_t DeviceFacts::memory_bytes() const {
  uint64_t bytes = 0;
  for (uint32_t heap = 0; heap < memory.memoryHeapCount; ++heap) {
    if (memory.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) bytes += memory.memoryHeaps[heap].size;
  }
  return bytes;
}

Result<std::vector<DeviceFacts>> list_devices(const Instance& instance) {
  BATON_TRY_ASSIGN(const std::vector<VkPhysicalDevice> handles, instance.physical_devices());
  std::vector<DeviceFacts> hardware, software;
  for (VkPhysicalDevice handle : handles) {
    BATON_TRY_ASSIGN(DeviceFacts facts, ask(instance, handle));
    (facts.software ? software : hardware).push_back(std::move(facts));
  }
  for (DeviceFacts& facts : software) hardware.push_back(std::move(facts));
  return hardware;
}

std::string version_text(uint32_t version) {
  return text(VK_API_VERSION_MAJOR(version), ".", VK_API_VERSION_MINOR(version), ".", VK_API_VERSION_PATCH(version));
}

DeviceInfo describe(const DeviceFacts& facts, size_t index) {
  const auto listed = [](const char* name, VkBool32 has) { return has ? name : ""; };
  const FeatureChain& on = facts.features;
  std::string description = text(facts.name, facts.software ? ", software" : "", ", ", facts.memory_bytes() >> 20,
                                 " MiB, Vulkan ", version_text(facts.api_version), ", ", facts.uuid);
  if (!facts.obstacle.empty()) description += text("; Baton cannot use it: ", facts.obstacle);
  return {text(index),
          std::move(description),
          {{"architecture", facts.software ? "software" : "vulkan"},
           {"memory_bytes", static_cast<int64_t>(facts.memory_bytes())},
           {"subgroup_size", int64_t{facts.subgroup_size}},
           {"threads_per_block_max", int64_t{facts.limits.maxComputeWorkGroupInvocations}},
           {"shared_bytes_max", int64_t{facts.limits.maxComputeSharedMemorySize}},
           {"api_version", version_text(facts.api_version)},
           {"uuid", facts.uuid},
           {"features", text("addresses timeline", listed(" f16", on.v12.shaderFloat16),
                             listed(" f64", on.core.features.shaderFloat64), listed(" i8", on.v12.shaderInt8),
                             listed(" i16", on.core.features.shaderInt16), " i64",
                             facts.imported_host_alignment ? " host-import" : "")},
           {"formats", text(hands_over(facts) ? text(spirv::kHandingFormat, " ") : "", "vulkan-spirv-fb spirv")},
           {"parameters", "vulkan_validation=0|1|fatal vulkan_cache=FOLDER"}}};
}

}  // namespace baton::hal::drivers::vulkan
