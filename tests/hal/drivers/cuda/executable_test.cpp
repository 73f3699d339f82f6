// Executables on the fake GPU: which variant is taken and why others are not, what the driver's compiler says, and what
// is checked against the code.
#include "hal/drivers/cuda/executable.hpp"

#include "hal/drivers/cuda/variants.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fake_cuda;

Status load(hal::Device& device, const EntryPoint& expected, std::string_view code = kFakeCode) {
  const ExecutableVariant variant{"cuda-ptx", std::as_bytes(std::span(code))};
  const auto loaded = device.make_executable({.name = "e", .variants = {&variant, 1}, .expected = {&expected, 1}});
  return loaded.has_value() ? Status() : loaded.error().clone();
}

TEST(VariantsTest, TheMostSpecificWins) {
  EXPECT_GT(match_format(90, "cuda-sm_90a").rank, match_format(90, "cuda-sm_90").rank);
  EXPECT_GT(match_format(90, "cuda-sm_90").rank, match_format(90, "cuda-fatbin").rank);
  EXPECT_GT(match_format(86, "cubin-sm_86").rank, match_format(86, "cubin-sm_80").rank);
  EXPECT_GT(match_format(90, "cuda-fatbin").rank, match_format(90, "cuda-ptx-compute_80").rank);
  EXPECT_GT(match_format(90, "cuda-ptx-compute_80").rank, match_format(90, "ptx-compute_75").rank);
  EXPECT_GT(match_format(90, "ptx-compute_75").rank, match_format(90, "ptx").rank);
  EXPECT_GE(match_format(90, "cuda-nvptx-fb").rank, 0);
}

TEST(VariantsTest, RefusalsHaveReasons) {
  EXPECT_EQ(match_format(90, "cuda-sm_80").reason, "is machine code for sm_80; the device is sm_90");
  EXPECT_EQ(match_format(80, "cuda-sm_86").reason, "is machine code for sm_86; the device is sm_80");
  EXPECT_EQ(match_format(100, "cuda-sm_90a").reason, "is machine code for sm_90a alone; the device is sm_100");
  EXPECT_EQ(match_format(75, "cuda-ptx-compute_80").reason, "is PTX that needs compute_80; the device is sm_75");
  for (const std::string_view unknown :
       {"vulkan-spirv", "cuda-sm_", "cuda-sm_9x0", "sm_90", "", "embedded-elf-x86_64"}) {
    EXPECT_LT(match_format(90, unknown).rank, 0) << unknown;
  }
  const auto device = open_fake("stream");
  const ExecutableVariant variants[] = {{"cuda-sm_80", {}}, {"embedded-elf-x86_64", {}}};
  EXPECT_FAILS(device->make_executable({.name = "e", .variants = variants}), StatusCode::kNotFound,
               "None of the 2 variants of executable 'e' fits device 'cuda://0'.\n"
               "  'cuda-sm_80': is machine code for sm_80; the device is sm_90\n"
               "  'embedded-elf-x86_64': is no format of CUDA code");
}

TEST(ExecutableTest, CorruptCodeComesWithTheCompilersWords) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load(*device, {.name = "scale"}, "garbage"), StatusCode::kInvalidArgument,
               "while loading 7 bytes of PTX\n  the driver's compiler said: ptxas: syntax error in line 1\n");
}

TEST(ExecutableTest, AMissingKernelIsToldWithItsNeighbours) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load(*device, {.name = "scales"}), StatusCode::kNotFound,
               "The code has no kernel 'scales' (5 kernels); did you mean 'scale'");
}

TEST(ExecutableTest, ParametersAreChecked) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load(*device, {.name = "add", .constant_count = 1, .binding_count = 2}), StatusCode::kInvalidArgument,
               "Kernel 'add' takes 4 parameters of (8, 8, 8, 4) bytes; the program passes 2 bindings and 1 constants.");
  EXPECT_FAILS(load(*device, {.name = "scale", .constant_count = 1, .binding_count = 2}), StatusCode::kInvalidArgument,
               "Kernel 'scale' takes 3 parameters of (8, 4, 4) bytes; the program passes 2 bindings and 1 constants.");
  // A pointer that the program fills itself is two constants.
  EXPECT_OK(load(*device, {.name = "add", .constant_count = 3, .binding_count = 2}));
}

TEST(ExecutableTest, SharesMemoryUpToTheOptInLimit) {
  const auto device = open_fake("stream");
  EXPECT_OK(load(*device, {.name = "write_ids", .binding_count = 1, .local_memory_bytes = 100 * 1024}));
  EXPECT_EQ(fake_cuda().count("cuKernelSetAttribute write_ids 102400"), 1u);
  EXPECT_FAILS(load(*device, {.name = "write_ids", .binding_count = 1, .local_memory_bytes = 300 * 1024}),
               StatusCode::kResourceExhausted,
               "Kernel 'write_ids' needs 307200 bytes of shared memory (0 of them static); the device has 232448.");
}

TEST(ExecutableTest, WorkgroupsHaveLimits) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load(*device, {.name = "write_ids", .binding_count = 1, .workgroup_size = {2048, 1, 1}}),
               StatusCode::kOutOfRange, "Kernel 'write_ids' has 2048 threads in x; the device takes 1024.");
  EXPECT_FAILS(load(*device, {.name = "write_ids", .binding_count = 1, .workgroup_size = {64, 64, 1}}),
               StatusCode::kResourceExhausted, "has 4096 threads in a workgroup");
}

// One entry point with what it wants of its launches; `scale` of 64 threads.
Result<Ref<hal::Executable>> load_with(hal::Device& device, const LaunchAttributes& launch,
                                       const char* name = "scale") {
  const EntryPoint entry{.name = name, .workgroup_size = {64, 1, 1}, .launch = launch, .layout_known = false};
  const ExecutableVariant variant{"cuda-ptx", std::as_bytes(std::span(kFakeCode))};
  return device.make_executable({.name = "e", .variants = {&variant, 1}, .expected = {&entry, 1}});
}
Status dispatch(hal::Device& device, hal::Executable& executable, uint32_t workgroups, uint32_t times = 1) {
  const auto buffer = buffer_of(device, {1, 1});
  BATON_TRY_ASSIGN(auto commands, device.make_command_buffer());
  const uint32_t constants[] = {2, 3};
  const Binding bindings[] = {buffer};
  for (uint32_t i = 0; i < times; ++i) {
    BATON_TRY(commands->dispatch(
        {.executable = &executable, .grid = {workgroups, 1, 1}, .constants = constants, .bindings = bindings}));
    BATON_TRY(commands->barrier({}));
  }
  BATON_TRY_ASSIGN(const auto recording, commands->finish());
  return run(device, *recording);
}

TEST(ExecutableLaunchTest, StandInLaunches) {
  const auto device = open_fake("stream");
  const auto executable = load_with(*device, {.cluster_size = {2, 1, 1},
                                              .cooperative = true,
                                              .early = true,
                                              .local_memory_carveout_percent = 50,
                                              .priority = 3});
  ASSERT_OK(executable);
  EXPECT_EQ(fake_cuda().count("cuKernelSetAttribute scale 50"), 1u);
  EXPECT_OK(dispatch(*device, **executable, 4));
  EXPECT_EQ(fake_cuda().count("cuLaunchKernelEx cluster 2x1x1 cooperative priority -3 early"), 1u)
      << fake_cuda().log_text();
}

TEST(ExecutableLaunchTest, StandInGraphs) {
  const auto device = open_fake("graph");
  const auto executable = load_with(*device, {.cluster_size = {2, 1, 1}, .cooperative = true, .priority = 3});
  ASSERT_OK(executable);
  EXPECT_OK(dispatch(*device, **executable, 4, 3));
  for (const char* attribute : {"cluster 2x1x1", "cooperative", "priority -3"}) {
    EXPECT_EQ(fake_cuda().count(std::string("cuGraphKernelNodeSetAttribute ") + attribute), 3u);
  }
  EXPECT_EQ(fake_cuda().count("cuGraphAddKernelNode scale after 1"), 2u);
}

TEST(ExecutableLaunchTest, WhatMayBeginEarlyHangsByAProgrammaticEdge) {
  const auto device = open_fake("graph");
  const auto executable = load_with(*device, {.early = true});
  ASSERT_OK(executable);
  EXPECT_OK(dispatch(*device, **executable, 4, 3));
  EXPECT_EQ(fake_cuda().count("cuGraphAddKernelNode scale after 0"), 3u);
  EXPECT_EQ(fake_cuda().count("cuGraphAddDependencies 1 of type 1"), 2u);
}

TEST(ExecutableLaunchTest, AreCheckedAgainstCodeAndDevice) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load_with(*device, {.cluster_size = {32, 1, 1}}), StatusCode::kResourceExhausted,
               "Kernel 'scale' runs in clusters of 32 x 1 x 1 workgroups (32) with 0 bytes of shared memory each; the "
               "device holds none of that size.");
  EXPECT_FAILS(load_with(*device, {.priority = 6}), StatusCode::kOutOfRange,
               "Kernel 'scale' asks for priority 6; the device has 0 to 5.");
  EXPECT_FAILS(load_with(*device, {.priority = -1}), StatusCode::kOutOfRange, "asks for priority -1");
  EXPECT_FAILS(load_with(*device, {.local_memory_carveout_percent = 101}), StatusCode::kOutOfRange,
               "Kernel 'scale' asks for 101 percent of the fast memory as shared memory; there are 0 to 100.");
  EXPECT_OK(load_with(*device, {.cluster_size = {16, 1, 1}}));
  EXPECT_EQ(fake_cuda().count("cuKernelSetAttribute scale 1"), 2u) << "16 and 32 are more than is portable";

  fake_cuda().kernels[1].cluster_width = 4;
  const auto of_code = load_with(*device, {});
  ASSERT_OK(of_code);
  EXPECT_EQ((*of_code)->entry_points()[0].launch.cluster_size[0], 4u);
  EXPECT_FAILS(load_with(*device, {.cluster_size = {2, 1, 1}}), StatusCode::kInvalidArgument,
               "Kernel 'scale' is compiled for clusters of 4 x 1 x 1 workgroups; the program asks for 2 x 1 x 1.");
  EXPECT_FAILS(dispatch(*device, **of_code, 6), StatusCode::kInvalidArgument,
               "Entry point 'scale' runs in clusters of 4 workgroups in x; a grid of 6 is no multiple of it.");
  EXPECT_OK(dispatch(*device, **of_code, 8));
  fake_cuda().kernels[1].cluster_width = 0;

  const auto cooperative = load_with(*device, {.cooperative = true});
  ASSERT_OK(cooperative);
  EXPECT_FAILS(
      dispatch(*device, **cooperative, 129), StatusCode::kOutOfRange,
      "All workgroups of entry point 'scale' run at the same time; the grid has 129, and the device takes 128.");
  EXPECT_OK(dispatch(*device, **cooperative, 128));
}

TEST(ExecutableLaunchTest, NeedADeviceThatHasThem) {
  auto symbols = testing_support::make_fake_cuda();
  fake_cuda().new_launches = false;
  fake_cuda().kernels = testing_support::fake_conformance_kernels();
  const auto device = make_driver({symbols})->open("", {}).value();
  EXPECT_FAILS(load_with(*device, {.cluster_size = {2, 1, 1}}), StatusCode::kUnimplemented,
               "Kernel 'scale' runs in clusters of 2 x 1 x 1 workgroups; the device (sm_90) has no clusters.");
  EXPECT_FAILS(load_with(*device, {.cooperative = true}), StatusCode::kUnimplemented,
               "Kernel 'scale' is cooperative; the device has no cooperative launches.");
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
