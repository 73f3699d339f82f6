#include "hal/drivers/vulkan/spirv_features.hpp"

#include <bit>

#include "hal/interface/spirv.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

struct Capability {
  uint32_t number;
  const char* name;
  VkBool32 has;
};

Status check_capability(uint32_t number, const DeviceFacts& facts) {
  const VkPhysicalDeviceFeatures& core = facts.features.core.features;
  const VkPhysicalDeviceVulkan11Features& v11 = facts.features.v11;
  const VkPhysicalDeviceVulkan12Features& v12 = facts.features.v12;
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
      {4433, "StorageBuffer16BitAccess", v11.storageBuffer16BitAccess},
      {4434, "UniformAndStorageBuffer16BitAccess", v11.uniformAndStorageBuffer16BitAccess},
      {4441, "VariablePointersStorageBuffer", v11.variablePointersStorageBuffer},
      {4442, "VariablePointers", v11.variablePointers},
      {4448, "StorageBuffer8BitAccess", v12.storageBuffer8BitAccess},
      {4449, "UniformAndStorageBuffer8BitAccess", v12.uniformAndStorageBuffer8BitAccess},
      {5345, "VulkanMemoryModel", v12.vulkanMemoryModel},
      {5346, "VulkanMemoryModelDeviceScope", v12.vulkanMemoryModelDeviceScope},
      {5347, "PhysicalStorageBufferAddresses", v12.bufferDeviceAddress},
  };
  for (const Capability& one : known) {
    if (one.number != number) continue;
    if (one.has) return {};
    return failure(StatusCode::kUnimplemented, "The code needs ", one.name, ", which device '", facts.name,
                   "' has not.");
  }
  return failure(StatusCode::kUnimplemented, "The code needs capability ", number,
                 " of SPIR-V, which Baton does not turn on.");
}

}  // namespace

Status check_features(const SpirvModule& module, const DeviceFacts& facts) {
  const uint32_t version_max = facts.has_13() ? 0x00010600 : 0x00010500;
  if (module.version > version_max) {
    return failure(StatusCode::kUnimplemented, "The code is SPIR-V ", spirv_version_text(module.version), "; device '",
                   facts.name, "' takes ", spirv_version_text(version_max), ".");
  }
  for (const uint32_t capability : module.capabilities) BATON_TRY(check_capability(capability, facts));
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
    threads *= size;
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
