// What SPIR-V asks of a device is there, or the refusal names it: versions, capabilities one by one, and limits. The
// devices are made up, so this runs on every machine.
#include "hal/drivers/vulkan/spirv_features.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

DeviceFacts bare_device() {
  DeviceFacts facts;
  facts.name = "bare";
  facts.api_version = VK_API_VERSION_1_2;
  facts.limits.maxComputeWorkGroupSize[0] = 128;
  facts.limits.maxComputeWorkGroupSize[1] = 64;
  facts.limits.maxComputeWorkGroupSize[2] = 32;
  facts.limits.maxComputeWorkGroupInvocations = 256;
  facts.limits.maxComputeSharedMemorySize = 16384;
  facts.limits.maxPushConstantsSize = 128;
  facts.limits.maxPerStageDescriptorStorageBuffers = 4;
  return facts;
}

SpirvModule module_of(uint32_t version, std::vector<uint32_t> capabilities) {
  SpirvModule module;
  module.version = version;
  module.capabilities = std::move(capabilities);
  return module;
}

TEST(SpirvFeaturesTest, VersionsFollowTheDevice) {
  DeviceFacts facts = bare_device();
  EXPECT_OK(check_features(module_of(0x00010000, {1}), facts));
  EXPECT_OK(check_features(module_of(0x00010500, {1}), facts));
  EXPECT_FAILS(check_features(module_of(0x00010600, {1}), facts), StatusCode::kUnimplemented,
               "The code is SPIR-V 1.6; device 'bare' takes 1.5.");
  facts.api_version = VK_API_VERSION_1_3;
  EXPECT_OK(check_features(module_of(0x00010600, {1}), facts));
  EXPECT_FAILS(check_features(module_of(0x00010700, {1}), facts), StatusCode::kUnimplemented, "takes 1.6.");
}

TEST(SpirvFeaturesTest, EachCapabilityNeedsItsFeature) {
  struct Need {
    uint32_t capability;
    const char* name;
    VkBool32& feature;
  };
  DeviceFacts facts = bare_device();
  VkPhysicalDeviceFeatures& core = facts.features.core.features;
  VkPhysicalDeviceVulkan11Features& v11 = facts.features.v11;
  VkPhysicalDeviceVulkan12Features& v12 = facts.features.v12;
  const Need needs[] = {
      {9, "Float16", v12.shaderFloat16},
      {10, "Float64", core.shaderFloat64},
      {11, "Int64", core.shaderInt64},
      {12, "Int64Atomics", v12.shaderBufferInt64Atomics},
      {22, "Int16", core.shaderInt16},
      {39, "Int8", v12.shaderInt8},
      {4428, "WorkgroupMemoryExplicitLayoutKHR", facts.features.shared_layout.workgroupMemoryExplicitLayout},
      {4433, "StorageBuffer16BitAccess", v11.storageBuffer16BitAccess},
      {4434, "UniformAndStorageBuffer16BitAccess", v11.uniformAndStorageBuffer16BitAccess},
      {4435, "StoragePushConstant16", v11.storagePushConstant16},
      {4441, "VariablePointersStorageBuffer", v11.variablePointersStorageBuffer},
      {4442, "VariablePointers", v11.variablePointers},
      {4448, "StorageBuffer8BitAccess", v12.storageBuffer8BitAccess},
      {4449, "UniformAndStorageBuffer8BitAccess", v12.uniformAndStorageBuffer8BitAccess},
      {4450, "StoragePushConstant8", v12.storagePushConstant8},
      {5345, "VulkanMemoryModel", v12.vulkanMemoryModel},
      {5346, "VulkanMemoryModelDeviceScope", v12.vulkanMemoryModelDeviceScope},
      {5347, "PhysicalStorageBufferAddresses", v12.bufferDeviceAddress},
      {6016, "DotProductInputAll", facts.features.v13.shaderIntegerDotProduct},
      {6019, "DotProduct", facts.features.v13.shaderIntegerDotProduct},
      {6033, "AtomicFloat32AddEXT", facts.features.float_atomics.shaderBufferFloat32AtomicAdd},
      {6034, "AtomicFloat64AddEXT", facts.features.float_atomics.shaderSharedFloat64AtomicAdd},
  };
  for (const Need& need : needs) {
    SCOPED_TRACE(need.name);
    const SpirvModule module = module_of(0x00010500, {1, need.capability});
    const std::string refusal = std::string("The code needs ") + need.name + ", which device 'bare' has not.";
    EXPECT_FAILS(check_features(module, facts), StatusCode::kUnimplemented, refusal);
    need.feature = VK_TRUE;
    EXPECT_OK(check_features(module, facts));
    need.feature = VK_FALSE;
  }
  const struct {
    uint32_t capability;
    const char* named;
  } never[] = {{2, "Geometry, "},
               {6, "Kernel, "},
               {56, "StorageImageWriteWithoutFormat, "},
               {4479, "RayTracingKHR, "},
               {5055, "ShaderClockKHR, "},
               {5822, ""},
               {~0u, ""}};
  for (const auto& [capability, named] : never) {
    EXPECT_FAILS(
        check_features(module_of(0x00010500, {1, capability}), facts), StatusCode::kUnimplemented,
        text("The code needs ", named, "capability ", capability, " of SPIR-V, which Baton does not turn on."));
  }
}

TEST(SpirvFeaturesTest, ModesOfFloatsAndSizesByConstantsAreAskedOfTheDevice) {
  DeviceFacts facts = bare_device();
  VkPhysicalDeviceFloatControlsProperties& can = facts.float_controls;
  const struct {
    SpirvFloatMode mode;
    const char* name;
    VkBool32& has;
  } modes[] = {{{4459, 16}, "DenormPreserve of floats of 16 bits", can.shaderDenormPreserveFloat16},
               {{4460, 32}, "DenormFlushToZero of floats of 32 bits", can.shaderDenormFlushToZeroFloat32},
               {{4461, 64}, "SignedZeroInfNanPreserve of floats of 64 bits", can.shaderSignedZeroInfNanPreserveFloat64},
               {{4462, 32}, "RoundingModeRTE of floats of 32 bits", can.shaderRoundingModeRTEFloat32},
               {{4463, 16}, "RoundingModeRTZ of floats of 16 bits", can.shaderRoundingModeRTZFloat16}};
  for (const auto& one : modes) {
    const SpirvEntryPoint entry = {.name = "k", .float_modes = {one.mode}};
    EXPECT_FAILS(check_float_modes(entry, facts), StatusCode::kUnimplemented,
                 text("Kernel 'k' needs ", one.name, ", which device 'bare' has not."));
    one.has = VK_TRUE;
    EXPECT_OK(check_float_modes(entry, facts));
    one.has = VK_FALSE;
  }
  SpirvModule module = module_of(0x00010500, {1});
  module.sizes_by_id = true;
  EXPECT_FAILS(check_features(module, facts), StatusCode::kUnimplemented, "(LocalSizeId), which device 'bare'");
  facts.features.v13.maintenance4 = VK_TRUE;
  EXPECT_OK(check_features(module, facts));
}

// Every two sizes with every two modes, on each kind of device: written as the specification's table says it.
TEST(SpirvFeaturesTest, FloatsOfTwoSizesMayDifferWhereTheDeviceTellsThemApart) {
  DeviceFacts facts = bare_device();
  VkPhysicalDeviceFloatControlsProperties& can = facts.float_controls;
  std::memset(&can.shaderSignedZeroInfNanPreserveFloat16, 1,
              sizeof(can) - offsetof(VkPhysicalDeviceFloatControlsProperties, shaderSignedZeroInfNanPreserveFloat16));
  constexpr uint32_t kPreserve = 4459, kFlush = 4460, kSigned = 4461, kRte = 4462, kRtz = 4463;
  constexpr auto k32Only = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY;
  constexpr auto kAll = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL, kNone = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  const auto runs = [&](std::vector<SpirvFloatMode> modes, VkShaderFloatControlsIndependence denorm,
                        VkShaderFloatControlsIndependence rounding) {
    can.denormBehaviorIndependence = denorm;
    can.roundingModeIndependence = rounding;
    return check_float_modes({.name = "k", .float_modes = std::move(modes)}, facts).ok();
  };
  for (const auto other : {k32Only, kAll, kNone}) {
    for (const uint32_t a : {16u, 32u, 64u}) {
      for (const uint32_t b : {16u, 32u, 64u}) {
        SCOPED_TRACE(text(a, " and ", b, " beside ", int{other}));
        const bool with_32 = a != b && (a == 32 || b == 32);
        EXPECT_EQ(runs({{kPreserve, a}, {kFlush, b}}, kAll, other), a != b);
        EXPECT_EQ(runs({{kPreserve, a}, {kFlush, b}}, k32Only, other), with_32);
        EXPECT_FALSE(runs({{kFlush, a}, {kPreserve, b}}, kNone, other));
        EXPECT_EQ(runs({{kRte, a}, {kRtz, b}}, other, kAll), a != b);
        EXPECT_EQ(runs({{kRtz, a}, {kRte, b}}, other, k32Only), with_32);
        EXPECT_FALSE(runs({{kRte, a}, {kRtz, b}}, other, kNone));
        // The same for both, and what has nothing to do with each other.
        EXPECT_TRUE(runs({{kRte, a}, {kRte, b}, {kFlush, a}, {kFlush, b}, {kSigned, a}}, kNone, kNone));
      }
    }
  }
  can.denormBehaviorIndependence = kNone;
  EXPECT_FAILS(check_float_modes({.name = "k", .float_modes = {{kPreserve, 16}, {kFlush, 64}}}, facts),
               StatusCode::kUnimplemented,
               "Kernel 'k' needs DenormPreserve of floats of 16 bits and DenormFlushToZero of 64, which device 'bare' "
               "does not tell apart.");
}

TEST(SpirvFeaturesTest, WhatSubgroupsDoIsAskedOfTheDevice) {
  DeviceFacts facts = bare_device();
  const struct {
    uint32_t capability;
    const char* name;
    VkSubgroupFeatureFlags operation;
  } needs[] = {{61, "GroupNonUniform", VK_SUBGROUP_FEATURE_BASIC_BIT},
               {62, "GroupNonUniformVote", VK_SUBGROUP_FEATURE_VOTE_BIT},
               {63, "GroupNonUniformArithmetic", VK_SUBGROUP_FEATURE_ARITHMETIC_BIT},
               {64, "GroupNonUniformBallot", VK_SUBGROUP_FEATURE_BALLOT_BIT},
               {65, "GroupNonUniformShuffle", VK_SUBGROUP_FEATURE_SHUFFLE_BIT},
               {66, "GroupNonUniformShuffleRelative", VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT},
               {67, "GroupNonUniformClustered", VK_SUBGROUP_FEATURE_CLUSTERED_BIT},
               {68, "GroupNonUniformQuad", VK_SUBGROUP_FEATURE_QUAD_BIT}};
  for (const auto& need : needs) {
    const SpirvModule module = module_of(0x00010500, {1, need.capability});
    facts.subgroup_operations = ~need.operation;
    EXPECT_FAILS(check_features(module, facts), StatusCode::kUnimplemented,
                 std::string("The code needs ") + need.name + ", which device 'bare' has not.");
    facts.subgroup_operations = need.operation;
    EXPECT_OK(check_features(module, facts));
  }
}

TEST(SpirvFeaturesTest, SubgroupsHaveASizeThatTheDeviceCanMake) {
  DeviceFacts facts = bare_device();
  facts.subgroup_size = 32;
  const SpirvEntryPoint kernel = {.name = "k", .workgroup_size = {64, 2, 1}};
  const auto asked = [&](uint32_t threads) { return required_subgroup_size(kernel, threads, facts).value(); };
  EXPECT_EQ(asked(0), 0u);
  EXPECT_EQ(asked(32), 0u);
  EXPECT_FAILS(required_subgroup_size(kernel, 16, facts), StatusCode::kInvalidArgument,
               "Kernel 'k' is written for subgroups of 16 threads; device 'bare' has 32.");
  facts.subgroup_size_min = 8;
  facts.subgroup_size_max = 64;
  facts.subgroups_max = 8;
  for (const uint32_t threads : {16u, 32u, 64u}) EXPECT_EQ(asked(threads), threads);
  // Too many in a workgroup, no power of two, too large.
  for (const uint32_t threads : {8u, 24u, 128u}) {
    EXPECT_FAILS(required_subgroup_size(kernel, threads, facts), StatusCode::kInvalidArgument,
                 text("of ", threads, " threads; device 'bare' has 8 to 64, and 8 of them in a workgroup."));
  }
  EXPECT_EQ(asked(0), 0u);
}

TEST(SpirvFeaturesTest, WhoHandsOverWantsWholeSubgroups) {
  DeviceFacts facts = bare_device();
  SpirvEntryPoint kernel = {.name = "k", .workgroup_size = {64, 2, 1}};
  facts.api_version = VK_API_VERSION_1_3;
  facts.subgroup_size = 32;
  facts.subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  facts.features.v12.vulkanMemoryModel = VK_TRUE;
  facts.features.v13.computeFullSubgroups = VK_TRUE;
  EXPECT_TRUE(hands_over(facts));
  EXPECT_OK(check_subgroups_are_whole(kernel, facts));
  kernel.workgroup_size[0] = 48;
  EXPECT_FAILS(check_subgroups_are_whole(kernel, facts), StatusCode::kInvalidArgument,
               "Kernel 'k' has 48 threads in x, and wants whole subgroups, which are of 32 on device 'bare'.");
  const auto lacks = [&](const auto& change) {
    DeviceFacts less = facts;
    change(less);
    EXPECT_FALSE(hands_over(less));
    EXPECT_FAILS(check_subgroups_are_whole(kernel, less), StatusCode::kUnimplemented,
                 "in whole subgroups of 8 to 64; device 'bare' can't.");
  };
  lacks([](DeviceFacts& less) { less.api_version = VK_API_VERSION_1_2; });
  lacks([](DeviceFacts& less) { less.subgroup_size = 4; });
  lacks([](DeviceFacts& less) { less.subgroup_size = 128; });
  lacks([](DeviceFacts& less) { less.subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT; });
  lacks([](DeviceFacts& less) { less.features.v12.vulkanMemoryModel = VK_FALSE; });
  lacks([](DeviceFacts& less) { less.features.v13.computeFullSubgroups = VK_FALSE; });
}

TEST(SpirvFeaturesTest, LimitsAreTheDevices) {
  const DeviceFacts facts = bare_device();
  const SpirvEntryPoint largest = {
      .name = "k", .workgroup_size = {128, 2, 1}, .shared_bytes = 16384, .binding_count = 4, .push_bytes = 128};
  EXPECT_OK(check_limits(largest, facts));
  const auto refused = [&](const auto& change, StatusCode code, std::string_view part) {
    SpirvEntryPoint entry = largest;
    change(entry);
    EXPECT_FAILS(check_limits(entry, facts), code, part);
  };
  refused([](SpirvEntryPoint& entry) { entry.push_bytes = 132; }, StatusCode::kOutOfRange,
          "Kernel 'k' has 132 bytes of push constants; device 'bare' takes 128.");
  refused([](SpirvEntryPoint& entry) { entry.binding_count = 5; }, StatusCode::kOutOfRange, "has 5 bindings;");
  refused([](SpirvEntryPoint& entry) { entry.shared_bytes = uint64_t{1} << 40; }, StatusCode::kOutOfRange,
          "has 1099511627776 bytes of shared memory;");
  refused([](SpirvEntryPoint& entry) { entry.workgroup_size[1] = 3; }, StatusCode::kOutOfRange,
          "has 384 threads in a workgroup;");
  for (const int axis : {0, 1, 2}) {
    const std::string name(1, "xyz"[axis]);
    refused([&](SpirvEntryPoint& entry) { entry.workgroup_size[axis] = 0; }, StatusCode::kInvalidArgument,
            "has no threads in " + name);
    refused([&](SpirvEntryPoint& entry) { entry.workgroup_size[axis] = ~0u; }, StatusCode::kOutOfRange,
            "has 4294967295 threads in " + name);
  }
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
