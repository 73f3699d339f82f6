#include "hal/drivers/vulkan/spirv_features.hpp"

#include <algorithm>
#include <bit>

#include "hal/interface/spirv.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

struct Capability {
  uint32_t number;
  const char* name;
  VkBool32 has;
};

// Features that kernels may require and Baton never enables, with names, so that a message can say what to take out.
const char* unused_capability(uint32_t number) {
  constexpr struct {
    uint32_t number;
    const char* name;
  } kNames[] = {
      {2, "Geometry"},
      {3, "Tessellation"},
      {4, "Addresses"},
      {5, "Linkage"},
      {6, "Kernel"},
      {13, "ImageBasic"},
      {14, "ImageReadWrite"},
      {17, "Pipes"},
      {18, "Groups"},
      {19, "DeviceEnqueue"},
      {21, "AtomicStorage"},
      {25, "ImageGatherExtended"},
      {27, "StorageImageMultisample"},
      {28, "UniformBufferArrayDynamicIndexing"},
      {29, "SampledImageArrayDynamicIndexing"},
      {30, "StorageBufferArrayDynamicIndexing"},
      {31, "StorageImageArrayDynamicIndexing"},
      {34, "ImageCubeArray"},
      {38, "GenericPointer"},
      {40, "InputAttachment"},
      {41, "SparseResidency"},
      {42, "MinLod"},
      {43, "Sampled1D"},
      {44, "Image1D"},
      {45, "SampledCubeArray"},
      {46, "SampledBuffer"},
      {47, "ImageBuffer"},
      {48, "ImageMSArray"},
      {49, "StorageImageExtendedFormats"},
      {51, "DerivativeControl"},
      {55, "StorageImageReadWithoutFormat"},
      {56, "StorageImageWriteWithoutFormat"},
      {4423, "SubgroupBallotKHR"},
      {4431, "SubgroupVoteKHR"},
      {4437, "DeviceGroup"},
      {4439, "MultiView"},
      {4472, "RayQueryKHR"},
      {4479, "RayTracingKHR"},
      {5016, "Int64ImageEXT"},
      {5055, "ShaderClockKHR"},
      {5288, "ComputeDerivativeGroupQuads"},
      {5297, "GroupNonUniformPartitionedNV"},
      {5301, "ShaderNonUniform"},
      {5302, "RuntimeDescriptorArray"},
      {5307, "UniformBufferArrayNonUniformIndexing"},
      {5308, "SampledImageArrayNonUniformIndexing"},
      {5309, "StorageBufferArrayNonUniformIndexing"},
      {5310, "StorageImageArrayNonUniformIndexing"},
      {5340, "RayTracingNV"},
      {5350, "ComputeDerivativeGroupLinear"},
      {5357, "CooperativeMatrixNV"},
      {5373, "ShaderSMBuiltinsNV"},
      {5568, "SubgroupShuffleINTEL"},
      {5612, "AtomicFloat32MinMaxEXT"},
      {5613, "AtomicFloat64MinMaxEXT"},
      {5616, "AtomicFloat16MinMaxEXT"},
      {5629, "ExpectAssumeKHR"},
      {6022, "CooperativeMatrixKHR"},
      {6026, "GroupNonUniformRotateKHR"},
      {6095, "AtomicFloat16AddEXT"},
  };
  for (const auto& one : kNames) {
    if (one.number == number) return one.name;
  }
  return nullptr;
}

Status check_capability(uint32_t number, const DeviceFacts& facts) {
  const VkPhysicalDeviceFeatures& core = facts.features.core.features;
  const VkPhysicalDeviceVulkan11Features& v11 = facts.features.v11;
  const VkPhysicalDeviceVulkan12Features& v12 = facts.features.v12;
  const VkPhysicalDeviceVulkan13Features& v13 = facts.features.v13;
  const auto& atomics = facts.features.float_atomics;
  const auto& shared = facts.features.shared_layout;
  const auto operates = [&](VkSubgroupFeatureFlags one) -> VkBool32 { return (facts.subgroup_operations & one) != 0; };
  const Capability known[] = {
      {0, "Matrix", true},
      {1, "Shader", true},
      {9, "Float16", v12.shaderFloat16},
      {10, "Float64", core.shaderFloat64},
      {11, "Int64", core.shaderInt64},
      {12, "Int64Atomics", v12.shaderBufferInt64Atomics},
      {22, "Int16", core.shaderInt16},
      {39, "Int8", v12.shaderInt8},
      {50, "ImageQuery", true},
      {61, "GroupNonUniform", operates(VK_SUBGROUP_FEATURE_BASIC_BIT)},
      {62, "GroupNonUniformVote", operates(VK_SUBGROUP_FEATURE_VOTE_BIT)},
      {63, "GroupNonUniformArithmetic", operates(VK_SUBGROUP_FEATURE_ARITHMETIC_BIT)},
      {64, "GroupNonUniformBallot", operates(VK_SUBGROUP_FEATURE_BALLOT_BIT)},
      {65, "GroupNonUniformShuffle", operates(VK_SUBGROUP_FEATURE_SHUFFLE_BIT)},
      {66, "GroupNonUniformShuffleRelative", operates(VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT)},
      {67, "GroupNonUniformClustered", operates(VK_SUBGROUP_FEATURE_CLUSTERED_BIT)},
      {68, "GroupNonUniformQuad", operates(VK_SUBGROUP_FEATURE_QUAD_BIT)},
      {4427, "DrawParameters", true},
      {4428, "WorkgroupMemoryExplicitLayoutKHR", shared.workgroupMemoryExplicitLayout},
      {4429, "WorkgroupMemoryExplicitLayout8BitAccessKHR", shared.workgroupMemoryExplicitLayout8BitAccess},
      {4430, "WorkgroupMemoryExplicitLayout16BitAccessKHR", shared.workgroupMemoryExplicitLayout16BitAccess},
      {4433, "StorageBuffer16BitAccess", v11.storageBuffer16BitAccess},
      {4434, "UniformAndStorageBuffer16BitAccess", v11.uniformAndStorageBuffer16BitAccess},
      {4435, "StoragePushConstant16", v11.storagePushConstant16},
      {4441, "VariablePointersStorageBuffer", v11.variablePointersStorageBuffer},
      {4442, "VariablePointers", v11.variablePointers},
      {4448, "StorageBuffer8BitAccess", v12.storageBuffer8BitAccess},
      {4449, "UniformAndStorageBuffer8BitAccess", v12.uniformAndStorageBuffer8BitAccess},
      {4450, "StoragePushConstant8", v12.storagePushConstant8},
      // What each of these means stands with its mode, which says for which floats.
      {4464, "DenormPreserve", true},
      {4465, "DenormFlushToZero", true},
      {4466, "SignedZeroInfNanPreserve", true},
      {4467, "RoundingModeRTE", true},
      {4468, "RoundingModeRTZ", true},
      {5345, "VulkanMemoryModel", v12.vulkanMemoryModel},
      {5346, "VulkanMemoryModelDeviceScope", v12.vulkanMemoryModelDeviceScope},
      {5347, "PhysicalStorageBufferAddresses", v12.bufferDeviceAddress},
      {6016, "DotProductInputAll", v13.shaderIntegerDotProduct},
      {6017, "DotProductInput4x8Bit", v13.shaderIntegerDotProduct},
      {6018, "DotProductInput4x8BitPacked", v13.shaderIntegerDotProduct},
      {6019, "DotProduct", v13.shaderIntegerDotProduct},
      {6033, "AtomicFloat32AddEXT", atomics.shaderBufferFloat32AtomicAdd || atomics.shaderSharedFloat32AtomicAdd},
      {6034, "AtomicFloat64AddEXT", atomics.shaderBufferFloat64AtomicAdd || atomics.shaderSharedFloat64AtomicAdd},
  };
  for (const Capability& one : known) {
    if (one.number != number) continue;
    if (one.has) return {};
    return failure(StatusCode::kUnimplemented, "The code needs ", one.name, ", which device '", facts.name,
                   "' has not.");
  }
  const char* name = unused_capability(number);
  return failure(StatusCode::kUnimplemented, "The code needs ", name ? text(name, ", ") : "", "capability ", number,
                 " of SPIR-V, which Baton does not turn on.");
}

// A mode of floats, and where a device says of which sizes it can do it.
struct FloatMode {
  uint32_t number;
  const char* name;
  VkBool32 VkPhysicalDeviceFloatControlsProperties::*of_16;
  VkBool32 VkPhysicalDeviceFloatControlsProperties::*of_32;
  VkBool32 VkPhysicalDeviceFloatControlsProperties::*of_64;

  VkBool32 VkPhysicalDeviceFloatControlsProperties::*of(uint32_t width) const {
    return width == 16 ? of_16 : width == 32 ? of_32 : of_64;
  }
};

#define BATON_FLOAT_MODE(number, name)                                              \
  {                                                                                 \
    number, #name, &VkPhysicalDeviceFloatControlsProperties::shader##name##Float16, \
        &VkPhysicalDeviceFloatControlsProperties::shader##name##Float32,            \
        &VkPhysicalDeviceFloatControlsProperties::shader##name##Float64             \
  }
constexpr FloatMode kFloatModes[] = {
    BATON_FLOAT_MODE(spirv::kModeDenormPreserve, DenormPreserve),
    BATON_FLOAT_MODE(spirv::kModeDenormFlushToZero, DenormFlushToZero),
    BATON_FLOAT_MODE(spirv::kModeSignedZeroInfNanPreserve, SignedZeroInfNanPreserve),
    BATON_FLOAT_MODE(spirv::kModeRoundingModeRte, RoundingModeRTE),
    BATON_FLOAT_MODE(spirv::kModeRoundingModeRtz, RoundingModeRTZ),
};
#undef BATON_FLOAT_MODE

const FloatMode* float_mode(uint32_t number) {
  for (const FloatMode& mode : kFloatModes) {
    if (mode.number == number) return &mode;
  }
  return nullptr;
}

// Two that exclude each other where they are of the same floats, or of such as the device treats alike.
bool are_rivals(uint32_t a, uint32_t b) {
  const auto are = [&](uint32_t one, uint32_t other) { return (a == one && b == other) || (a == other && b == one); };
  return are(spirv::kModeDenormPreserve, spirv::kModeDenormFlushToZero) ||
         are(spirv::kModeRoundingModeRte, spirv::kModeRoundingModeRtz);
}

// Whether floats of two sizes may be computed in different ways.
bool are_independent(uint32_t a, uint32_t b, VkShaderFloatControlsIndependence independence) {
  if (a == b) return false;
  if (independence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL) return true;
  return independence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY && (a == 32 || b == 32);
}

}  // namespace

Status check_features(const SpirvModule& module, const DeviceFacts& facts) {
  const uint32_t version_max = facts.has_13() ? 0x00010600 : 0x00010500;
  if (module.version > version_max) {
    return failure(StatusCode::kUnimplemented, "The code is SPIR-V ", spirv_version_text(module.version), "; device '",
                   facts.name, "' takes ", spirv_version_text(version_max), ".");
  }
  for (const uint32_t capability : module.capabilities) BATON_TRY(check_capability(capability, facts));
  if (module.sizes_by_id && !facts.features.v13.maintenance4) {
    return failure(StatusCode::kUnimplemented, "A workgroup's size is said by constants (LocalSizeId), which device '",
                   facts.name, "' does not take.");
  }
  return {};
}

Status check_float_modes(const SpirvEntryPoint& entry, const DeviceFacts& facts) {
  const VkPhysicalDeviceFloatControlsProperties& can = facts.float_controls;
  for (const SpirvFloatMode& mode : entry.float_modes) {
    const FloatMode* known = float_mode(mode.mode);
    if (known && !(can.*known->of(mode.width))) {
      return failure(StatusCode::kUnimplemented, "Kernel '", entry.name, "' needs ", known->name, " of floats of ",
                     mode.width, " bits, which device '", facts.name, "' has not.");
    }
  }
  for (const SpirvFloatMode& one : entry.float_modes) {
    for (const SpirvFloatMode& other : entry.float_modes) {
      if (!are_rivals(one.mode, other.mode)) continue;
      const bool rounds = one.mode == spirv::kModeRoundingModeRte || one.mode == spirv::kModeRoundingModeRtz;
      const auto independence = rounds ? can.roundingModeIndependence : can.denormBehaviorIndependence;
      if (are_independent(one.width, other.width, independence)) continue;
      return failure(StatusCode::kUnimplemented, "Kernel '", entry.name, "' needs ", float_mode(one.mode)->name,
                     " of floats of ", one.width, " bits and ", float_mode(other.mode)->name, " of ", other.width,
                     ", which device '", facts.name, "' does not tell apart.");
    }
  }
  return {};
}

Status check_limits(const SpirvEntryPoint& entry, const DeviceFacts& facts) {
  const auto beyond = [&](std::string_view what, uint64_t has, uint64_t most) {
    return failure(StatusCode::kOutOfRange, "Kernel '", entry.name, "' has ", has, " ", what, "; device '", facts.name,
                   "' takes ", most, ".");
  };
  const VkPhysicalDeviceLimits& limits = facts.limits;
  uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t size = entry.workgroup_size[axis];
    if (size == 0) {
      return failure(StatusCode::kInvalidArgument, "Kernel '", entry.name, "' has no threads in ", "xyz"[axis], ".");
    }
    if (size > limits.maxComputeWorkGroupSize[axis]) {
      return beyond(text("threads in ", "xyz"[axis]), size, limits.maxComputeWorkGroupSize[axis]);
    }
    threads = std::min<uint64_t>(threads * size, ~uint32_t{0});
  }
  if (threads > limits.maxComputeWorkGroupInvocations) {
    return beyond("threads in a workgroup", threads, limits.maxComputeWorkGroupInvocations);
  }
  if (entry.shared_bytes > limits.maxComputeSharedMemorySize) {
    return beyond("bytes of shared memory", entry.shared_bytes, limits.maxComputeSharedMemorySize);
  }
  if (entry.push_bytes > limits.maxPushConstantsSize) {
    return beyond("bytes of push constants", entry.push_bytes, limits.maxPushConstantsSize);
  }
  if (entry.binding_count > limits.maxPerStageDescriptorStorageBuffers) {
    return beyond("bindings", entry.binding_count, limits.maxPerStageDescriptorStorageBuffers);
  }
  return {};
}

Result<uint32_t> required_subgroup_size(const SpirvEntryPoint& entry, uint32_t threads, const DeviceFacts& facts) {
  if (threads == 0) return 0u;
  const uint64_t workgroup = uint64_t{1} * entry.workgroup_size[0] * entry.workgroup_size[1] * entry.workgroup_size[2];
  const bool can_ask = std::has_single_bit(threads) && threads >= facts.subgroup_size_min &&
                       threads <= facts.subgroup_size_max && workgroup <= uint64_t{threads} * facts.subgroups_max;
  if (can_ask) return threads;
  if (threads == facts.subgroup_size) return 0u;
  const bool several = facts.subgroup_size_min < facts.subgroup_size_max;
  return failure(StatusCode::kInvalidArgument, "Kernel '", entry.name, "' is written for subgroups of ", threads,
                 " threads; device '", facts.name, "' has ",
                 several ? text(facts.subgroup_size_min, " to ", facts.subgroup_size_max) : text(facts.subgroup_size),
                 several ? text(", and ", facts.subgroups_max, " of them in a workgroup.") : ".");
}

bool hands_over(const DeviceFacts& facts) {
  constexpr VkSubgroupFeatureFlags kNeeded = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  return facts.has_13() && facts.features.v13.computeFullSubgroups && facts.features.v12.vulkanMemoryModel &&
         (facts.subgroup_operations & kNeeded) == kNeeded && facts.subgroup_size >= spirv::kHandingThreads &&
         facts.subgroup_size <= spirv::kHandingThreadsMax;
}

Status check_subgroups_are_whole(const SpirvEntryPoint& entry, const DeviceFacts& facts) {
  if (!hands_over(facts)) {
    return failure(StatusCode::kUnimplemented, "Threads of kernel '", entry.name,
                   "' hand each other what they hold, in whole subgroups of ", spirv::kHandingThreads, " to ",
                   spirv::kHandingThreadsMax, "; device '", facts.name, "' can't.");
  }
  if (entry.workgroup_size[0] % facts.subgroup_size == 0) return {};
  return failure(StatusCode::kInvalidArgument, "Kernel '", entry.name, "' has ", entry.workgroup_size[0],
                 " threads in x, and wants whole subgroups, which are of ", facts.subgroup_size, " on device '",
                 facts.name, "'.");
}

}  // namespace baton::hal::drivers::vulkan
