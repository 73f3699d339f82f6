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

}  // namespace
}  // namespace baton::hal::drivers::cuda
