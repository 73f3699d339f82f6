// What a device refuses: each test reads the sentence, which says what was asked for and what the limit is, and then
// runs a good program on the same device. On the fake GPU everywhere, on the machine's where there is one.
#include "hal/drivers/cuda/device.hpp"

#include <cstring>

#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

struct Place {
  const char* name;
  const char* mode;
  bool real;
};

class DeviceTest : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (!GetParam().real) {
      device_ = open_fake(GetParam().mode);
      code_ = kFakeCode;
      return;
    }
    auto opened = open_real(GetParam().mode);
    if (!opened.has_value()) GTEST_SKIP() << "skipped: no CUDA device (" << opened.error().to_string() << ")";
    code_ = testing_support::conformance_ptx();
    if (code_.empty()) GTEST_SKIP() << "skipped: built without nvcc";
    device_ = std::move(opened).value();
  }

  // The device goes on.
  void TearDown() override {
    if (!device_) return;
    const auto kernels = load_kernels(*device_, code_);
    const auto values = buffer_of(*device_, {1, 2, 3, 4});
    EXPECT_OK(run(*device_, *record(*kernels, Binding(values), 1)));
    EXPECT_EQ(values_of(*values), (std::vector<uint32_t>{2, 4, 6, 8}));
  }

  Ref<hal::Recording> record(hal::Executable& kernels, const Binding& values, uint32_t workgroups) {
    auto commands = device_->make_command_buffer({.name = "good"}).value();
    const uint32_t constants[] = {4, 2};
    EXPECT_OK(commands->dispatch(
        {.executable = &kernels, .grid = {workgroups, 1, 1}, .constants = constants, .bindings = {&values, 1}}));
    return commands->finish().value();
  }

  Status load(std::span<const std::byte> code, std::string_view format, std::span<const EntryPoint> expected = {}) {
    const ExecutableVariant variant{format, code};
    const auto loaded = device_->make_executable({.name = "bad", .variants = {&variant, 1}, .expected = expected});
    return loaded.has_value() ? Status() : loaded.error().clone();
  }
  Status load(std::string_view code, std::string_view format = "cuda-ptx") {
    return load(std::as_bytes(std::span(code)), format);
  }
  Status load_with(const EntryPoint& expected) {
    return load(std::as_bytes(std::span(code_)), "cuda-ptx", {&expected, 1});
  }

  // What a real driver finds out by itself.
  void fail_next_load(CUresult result) {
    if (GetParam().real) return;
    testing_support::fail_next("cuModuleLoadDataEx", result);
  }

  const DeviceFacts& facts() { return static_cast<Device&>(*device_).context().facts(); }

  Ref<hal::Device> device_;
  std::string_view code_;
};

TEST_P(DeviceTest, CorruptPtxComesWithTheCompilersWords) {
  constexpr std::string_view kBad = ".version 7.0\n.target sm_75\n.visible .entry scail() { blurb; }\n";
  const Status status = load(kBad);
  EXPECT_FAILS(status, StatusCode::kInvalidArgument, "cuModuleLoadDataEx failed: CUDA_ERROR");
  EXPECT_FAILS(status, StatusCode::kInvalidArgument, text("while loading ", kBad.size(), " bytes of PTX"));
  EXPECT_FAILS(status, StatusCode::kInvalidArgument, "the driver's compiler said: ptxas");
}

TEST_P(DeviceTest, PtxOfTomorrowIsToldWithItsVersion) {
  fail_next_load(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_FAILS(load(".version 99.0\n.target sm_75\n"), StatusCode::kFailedPrecondition,
               text("it is PTX of version 99.0; the driver is for CUDA ", version_text(facts().driver_version)));
}

TEST_P(DeviceTest, ACubinForAnotherArchitectureIsTold) {
  const std::string_view cubin = testing_support::conformance_cubin();
  if (cubin.empty()) GTEST_SKIP() << "skipped: built without nvcc";
  if (facts().major == 7) GTEST_SKIP() << "skipped: the device is the other one";
  EXPECT_FAILS(load(cubin, "cuda-nvptx-fb"), StatusCode::kFailedPrecondition,
               text("The cubin is machine code for sm_75; the device is sm_", facts().arch(), "."));
  // Wherever it is cut off, the driver doesn't get to see it.
  for (size_t size = 4; size < cubin.size(); size += 997) {
    EXPECT_FAILS(load(cubin.substr(0, size), "cuda-nvptx-fb"), StatusCode::kDataLoss, "The cubin has");
  }
}

TEST_P(DeviceTest, MachineCodeIsCheckedBeforeTheDriverReadsIt) {
  constexpr std::string_view kCubin(
      "\x7f"
      "ELF\2\1\1",
      7),
      kFatbin("\x50\xed\x55\xba\1\0\x10\0\xff\0\0\0\0\0\0\0", 16);
  EXPECT_FAILS(load(kCubin, "cuda-nvptx-fb"), StatusCode::kDataLoss,
               "The cubin has 7 bytes; its first words are 64 bytes from 0 on.\n  while loading 7 bytes of cubin");
  EXPECT_FAILS(load(kFatbin, "cuda-fatbin"), StatusCode::kDataLoss,
               "The fatbin has 16 bytes; its contents are 255 bytes from 16 on.\n  while loading 16 bytes of fatbin");
}

TEST_P(DeviceTest, CodeForAnotherArchitectureIsToldWithTheReason) {
  EXPECT_FAILS(load(code_, "cuda-sm_10"), StatusCode::kNotFound,
               text("'cuda-sm_10': is machine code for sm_10; the device is sm_", facts().arch()));
  EXPECT_FAILS(load(code_, "cuda-ptx-compute_999"), StatusCode::kNotFound,
               text("'cuda-ptx-compute_999': is PTX that needs compute_999; the device is sm_", facts().arch()));
}

TEST_P(DeviceTest, AMissingKernelIsToldWithItsNeighbours) {
  EXPECT_FAILS(load_with({.name = "scales"}), StatusCode::kNotFound,
               "The code has no kernel 'scales' (5 kernels); did you mean 'scale'");
}

TEST_P(DeviceTest, ParametersAreCounted) {
  EXPECT_FAILS(load_with({.name = "add", .constant_count = 2, .binding_count = 3}), StatusCode::kInvalidArgument,
               "Kernel 'add' takes 4 parameters of (8, 8, 8, 4) bytes; the program passes 3 bindings and 2 constants.");
  EXPECT_FAILS(load_with({.name = "add", .constant_count = 0, .binding_count = 3}), StatusCode::kInvalidArgument,
               "the program passes 3 bindings and 0 constants.");
  EXPECT_FAILS(load_with({.name = "add", .constant_count = 1, .binding_count = 5}), StatusCode::kInvalidArgument,
               "the program passes 5 bindings and 1 constants.");
}

TEST_P(DeviceTest, SharedMemoryEndsAtTheOptInLimit) {
  const auto most = static_cast<uint32_t>(facts().shared_bytes_max);
  EXPECT_OK(load_with({.name = "write_ids", .binding_count = 1, .local_memory_bytes = most}));
  EXPECT_FAILS(load_with({.name = "write_ids", .binding_count = 1, .local_memory_bytes = most + 16}),
               StatusCode::kResourceExhausted,
               text("Kernel 'write_ids' needs ", most + 16,
                    " bytes of shared memory (0 of them static); the device has ", most, "."));
}

TEST_P(DeviceTest, WorkgroupsHaveLimits) {
  EXPECT_FAILS(load_with({.name = "write_ids", .binding_count = 1, .workgroup_size = {1, 1, 1000}}),
               StatusCode::kOutOfRange, "Kernel 'write_ids' has 1000 threads in z; the device takes 64.");
  EXPECT_FAILS(load_with({.name = "write_ids", .binding_count = 1, .workgroup_size = {64, 64, 1}}),
               StatusCode::kResourceExhausted,
               "Kernel 'write_ids' has 4096 threads in a workgroup; its registers and the device allow");
}

TEST_P(DeviceTest, GridsEndInEachDimension) {
  const auto kernels = load_kernels(*device_, code_);
  const auto values = buffer_of(*device_, {1, 2, 3, 4});
  const Binding binding(values);
  const uint32_t constants[] = {4, 2};
  for (int axis = 0; axis < 3; ++axis) {
    const auto most = static_cast<uint32_t>(facts().grid_max[axis]);
    commands::Dispatch command{.executable = kernels.get(), .constants = constants, .bindings = {&binding, 1}};
    command.grid[axis] = most + 1;
    EXPECT_FAILS(
        device_->make_command_buffer().value()->dispatch(command), StatusCode::kOutOfRange,
        text("Dispatch grid has ", most + 1, " workgroups in ", "xyz"[axis], "; the device takes ", most, "."));
  }
}

TEST_P(DeviceTest, LaunchAttributesAreCheckedWhenTheCodeIsLoaded) {
  EXPECT_FAILS(load_with({.name = "write_ids", .binding_count = 1, .launch = {.cluster_size = {64, 1, 1}}}),
               facts().clusters ? StatusCode::kResourceExhausted : StatusCode::kUnimplemented,
               "Kernel 'write_ids' runs in clusters of 64 x 1 x 1 workgroups");
  EXPECT_FAILS(load_with({.name = "write_ids", .binding_count = 1, .launch = {.priority = 1000}}),
               StatusCode::kOutOfRange, "Kernel 'write_ids' asks for priority 1000; the device has 0 to 5.");
  EXPECT_FAILS(load_with({.name = "write_ids", .binding_count = 1, .launch = {.subgroup_size = 64}}),
               StatusCode::kInvalidArgument,
               "Kernel 'write_ids' is written for subgroups of 64 threads; the device has 32.");
  EXPECT_FAILS(load_with({.name = "write_ids", .binding_count = 1, .launch = {.local_memory_carveout_percent = 101}}),
               StatusCode::kOutOfRange, "asks for 101 percent");
}

TEST_P(DeviceTest, TooMuchMemoryIsASentenceWithNumbers) {
  const uint64_t asked = facts().memory_bytes * 2;
  const AllocationRequest large{.length = asked, .memory = MemoryKind::kDeviceLocal, .usage = BufferUsage::kDispatch};
  const auto cached = device_->queue().allocate(
      {}, {.length = 1 << 20, .memory = MemoryKind::kDeviceLocal, .usage = BufferUsage::kDispatch});
  ASSERT_OK(cached);
  EXPECT_OK(device_->queue().free({}, **cached));
  const auto refused = device_->allocator().allocate(large);
  EXPECT_FAILS(refused, StatusCode::kResourceExhausted, text("No device memory for a buffer of ", asked, " bytes: "));
  EXPECT_FAILS(refused, StatusCode::kResourceExhausted, text("of the device's ", facts().memory_bytes, " are free, "));
}

// What is cached is given back before no is said: two buffers of more than half of what is free, one after the other.
TEST_P(DeviceTest, WhatWasFreedMakesRoom) {
  size_t free_bytes = 0, total_bytes = 0;
  {
    const auto& context = static_cast<Device&>(*device_).context();
    const ContextScope scope = context.enter();
    ASSERT_EQ(context.symbols().cuMemGetInfo(&free_bytes, &total_bytes), CUDA_SUCCESS);
  }
  if (!GetParam().real) free_bytes = size_t{1} << 24;  // Which is host memory there.
  for (const uint64_t length : {free_bytes / 8 * 5, free_bytes / 8 * 6}) {
    const auto buffer = device_->queue().allocate(
        {}, {.length = length, .memory = MemoryKind::kDeviceLocal, .usage = BufferUsage::kDispatch});
    ASSERT_OK(buffer) << length;
    EXPECT_OK(device_->queue().free({}, **buffer));
  }
  EXPECT_OK(device_->queue().wait_idle());
}

INSTANTIATE_TEST_SUITE_P(Fake, DeviceTest,
                         testing::Values(Place{"stream", "stream", false}, Place{"graph", "graph", false}),
                         [](const auto& place) { return std::string(place.param.name); });
INSTANTIATE_TEST_SUITE_P(Real, DeviceTest,
                         testing::Values(Place{"stream", "stream", true}, Place{"graph", "graph", true}),
                         [](const auto& place) { return std::string(place.param.name); });

}  // namespace
}  // namespace baton::hal::drivers::cuda
