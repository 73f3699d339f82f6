// Goal: an app's kernels run on an app's streams: with arguments of every kind in any order, checked against what the
// code says, on several devices, inside a capture; and what is wrong is a sentence that names the kernel.
// Method: the C++ twin over the C door, on the fake GPU, whose log tells what the driver was asked for.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/modules/kernel_library/cuda_kernels.hpp"
#include "tests/support/embedded_ptx.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::modules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class KernelStreamTest : public testing::Test {
 protected:
  FakeGpu gpu_;
  CUstream stream_ = gpu_.stream();
  const sdk::KernelLibrary library_ = gpu_.library("affine empty bare scale add");
};

TEST_F(KernelStreamTest, PointersNumbersAndStructsGoInAnyOrder) {
  const float x[] = {1, 2, 3};
  float y[3] = {};
  const Scaling scaling = {10, 5, 3};
  EXPECT_EQ(said(library_["affine"].launch({1}, {32}, stream_, int16_t{-1}, x + 0, scaling, y + 0)), "");
  EXPECT_THAT(y, ElementsAre(14, 24, 34));
  EXPECT_EQ(said(library_["bare"].launch({1}, {32}, stream_)), "");
}

TEST_F(KernelStreamTest, WrongCountsAndSizesAreASentence) {
  float* x = nullptr;
  const auto kernel = library_["scale"];
  EXPECT_EQ(said(kernel.value().launch({1}, {64}, stream_, x, 3u)),
            "INVALID_ARGUMENT: Kernel 'scale' takes 3 parameters of (8, 4, 4) bytes; 2 of (8, 4) bytes are given.");
  // A count of 64 bits for a parameter of 32.
  EXPECT_EQ(said(kernel.value().launch({1}, {64}, stream_, x, uint64_t{3}, 2u)),
            "INVALID_ARGUMENT: Kernel 'scale' takes 3 parameters of (8, 4, 4) bytes; 3 of (8, 8, 4) bytes are given.");
  EXPECT_EQ(said(library_["bare"].launch({1}, {64}, stream_, 1)),
            "INVALID_ARGUMENT: Kernel 'bare' takes 0 parameters of () bytes; 1 of (4) bytes are given.");
  baton_kernel_launch launch = {};
  launch.struct_size = sizeof(launch);
  launch.flags = BATON_KERNEL_ON_STREAM;
  launch.stream = stream_;
  launch.block[0] = launch.block[1] = launch.block[2] = 1;
  const baton_kernel_argument absent[] = {{&x, 8}, {nullptr, 4}, {nullptr, 4}};
  EXPECT_EQ(said(sdk::Status::adopt(baton_kernel_launch_on(kernel.value().handle(), &launch, absent, 3))),
            "INVALID_ARGUMENT: Argument 1 of kernel 'scale' is null, and stands for 4 bytes.");
  EXPECT_EQ(fake_cuda().count("cuLaunchKernel "), 0u);
  EXPECT_THAT(kernel.value().parameter_sizes().value(), ElementsAre(8, 4, 4));
}

TEST_F(KernelStreamTest, MissingKernelsNameTheirNeighbours) {
  EXPECT_THAT(said(library_["scael"]), HasSubstr("The code has no kernel 'scael' (5 kernels); "));
  EXPECT_THAT(said(library_["scael"]), HasSubstr("'scale'"));
  EXPECT_THAT(said(library_["scael"].launch({1}, {1}, stream_)), HasSubstr("NOT_FOUND"));
}

TEST_F(KernelStreamTest, AFoundKernelIsTheSame) {
  EXPECT_EQ(library_["scale"].value().handle(), library_["scale"].value().handle());
  EXPECT_EQ(library_["scale"].value().name(), "scale");
  EXPECT_EQ(fake_cuda().count("cuLibraryLoadData"), 1u);
}

TEST_F(KernelStreamTest, MoreSharedMemoryIsAllowedOnceAndRefusedBeyondTheDevice) {
  const auto launch = [&](uint32_t bytes) {
    return said(
        library_["empty"].launch({.grid = {1}, .block = {32}, .shared_bytes = bytes}, stream_, nullptr, nullptr, 0));
  };
  EXPECT_EQ(launch(100 * 1024), "");
  EXPECT_EQ(launch(60 * 1024), "");
  EXPECT_EQ(launch(100 * 1024), "");
  EXPECT_EQ(fake_cuda().count("cuKernelSetAttribute empty 102400"), 1u);
  EXPECT_EQ(fake_cuda().count("cuKernelSetAttribute"), 1u);
  EXPECT_EQ(launch(300 * 1024),
            "RESOURCE_EXHAUSTED: Kernel 'empty' needs 307200 bytes of shared memory (0 of them static); the device has "
            "232448.");
  EXPECT_EQ(launch(227 * 1024), "");
}

TEST_F(KernelStreamTest, WorkgroupsFitTheKernel) {
  EXPECT_EQ(said(library_["bare"].launch({1}, {1025}, stream_)),
            "OUT_OF_RANGE: Kernel 'bare' is launched with 1025 threads in a workgroup; its registers and the device "
            "allow 1 to 1024.");
  EXPECT_THAT(said(library_["bare"].launch({1}, {0}, stream_)), HasSubstr("launched with 0 threads"));
  for (const Dim3 block : {Dim3{0x80000000, 0x80000000, 4}, {~0u, ~0u, ~0u}, {0x10001, 0xffff, 0x1}}) {
    EXPECT_THAT(said(library_["bare"].launch({1}, block, stream_)), HasSubstr("allow 1 to 1024.")) << block.x;
  }
  // 2^64 + 5.
  EXPECT_THAT(said(library_["bare"].launch({1}, {609, 36760123, 823996703}, stream_)), HasSubstr("OUT_OF_RANGE"));
  EXPECT_EQ(said(library_["bare"].launch({0}, {32}, stream_)), "") << "an empty grid runs nothing";
  EXPECT_EQ(fake_cuda().count("cuLaunchKernel "), 0u);
}

TEST_F(KernelStreamTest, LaunchesSayWhatTheyWant) {
  LaunchShape shape = {.grid = {4, 2, 1}, .block = {32}};
  shape.cluster = {2, 1, 1};
  shape.cooperative = true;
  shape.early = true;
  shape.priority = 3;
  EXPECT_EQ(said(library_["bare"].launch(shape, stream_)), "");
  EXPECT_EQ(fake_cuda().count("cuLaunchKernelEx cluster 2x1x1 cooperative priority -3 early"), 1u);
  EXPECT_EQ(fake_cuda().count("cuLaunchKernel bare (4, 2, 1)"), 1u);
  shape.priority = INT32_MIN;  // Which has no opposite.
  EXPECT_EQ(said(library_["bare"].launch(shape, stream_)), "");
  EXPECT_EQ(fake_cuda().count("cuLaunchKernelEx cluster 2x1x1 cooperative priority 2147483647 early"), 1u);
}

TEST_F(KernelStreamTest, ADeviceWithoutClustersSaysSo) {
  fake_cuda().new_launches = false;
  EXPECT_THAT(said(library_["bare"].launch({.block = {32}, .cluster = {2, 1, 1}}, stream_)),
              HasSubstr("'bare' is launched in clusters; the device (sm_90) has none."));
  EXPECT_THAT(said(library_["bare"].launch({.block = {32}, .cooperative = true}, stream_)),
              HasSubstr("'bare' is launched as cooperative; the device has no such launches."));
}

TEST_F(KernelStreamTest, ACaptureOfTheCallersTakesTheLaunch) {
  uint32_t values[] = {1, 2};
  CUgraph graph = nullptr;
  gpu_.symbols().cuGraphCreate(&graph, 0);
  gpu_.symbols().cuStreamBeginCaptureToGraph(stream_, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(said(library_["scale"].launch({1}, {64}, stream_, values + 0, 2u, 5u)), "");
  gpu_.symbols().cuStreamEndCapture(stream_, &graph);
  EXPECT_THAT(values, ElementsAre(1, 2)) << "nothing ran yet";
  CUgraphExec instance = nullptr;
  gpu_.symbols().cuGraphInstantiateWithFlags(&instance, graph, 0);
  gpu_.symbols().cuGraphLaunch(instance, stream_);
  gpu_.symbols().cuGraphLaunch(instance, stream_);
  EXPECT_THAT(values, ElementsAre(25, 50));
  gpu_.symbols().cuGraphExecDestroy(instance);
  gpu_.symbols().cuGraphDestroy(graph);
}

TEST_F(KernelStreamTest, WhatWasLaunchedStaysLoaded) {
  {
    const sdk::KernelLibrary unused = gpu_.library("bare");
    EXPECT_EQ(said(unused["bare"]), "");
  }
  EXPECT_EQ(fake_cuda().count("cuLibraryUnload"), 1u);
  {
    const sdk::KernelLibrary launched = gpu_.library("bare");
    EXPECT_EQ(said(launched["bare"].launch({1}, {1}, stream_)), "");
  }
  EXPECT_EQ(fake_cuda().count("cuLibraryUnload"), 1u) << "a stream or a graph may still hold it";
}

TEST_F(KernelStreamTest, UnloadWaitsAndTheNextLaunchLoadsAgain) {
  const auto kernel = library_["bare"];
  EXPECT_EQ(said(kernel.value().launch({1}, {1}, stream_)), "");
  EXPECT_EQ(said(library_.unload()), "");
  EXPECT_EQ(fake_cuda().count("cuCtxSynchronize 0"), 1u);
  EXPECT_EQ(fake_cuda().count("cuLibraryUnload"), 1u);
  EXPECT_EQ(said(kernel.value().launch({1}, {1}, stream_)), "");
  EXPECT_EQ(fake_cuda().count("cuLibraryLoadData"), 2u);
}

TEST_F(KernelStreamTest, GlobalsAndOccupancyAreTold) {
  const auto found = library_.global(0, "counters");
  ASSERT_EQ(said(found), "");
  EXPECT_EQ(found.value().bytes, 16u);
  EXPECT_EQ(said(library_.global(0, "counter")), "NOT_FOUND: Kernel library 'kernels' has no variable 'counter'.");
  EXPECT_THAT(said(library_.global(7, "counters")), HasSubstr("There is no CUDA device 7; there are 1."));
  const auto occupancy = library_["bare"].value().occupancy(0, 256);
  ASSERT_EQ(said(occupancy), "");
  EXPECT_EQ(occupancy.value().workgroups_per_multiprocessor, 8u);
  EXPECT_EQ(occupancy.value().multiprocessors, 4u);
  EXPECT_EQ(occupancy.value().block_for_most, 512u);
}

TEST_F(KernelStreamTest, ADriversFailureNamesTheKernel) {
  testing_support::fail_next("cuLaunchKernelEx", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(said(library_["bare"].launch({1}, {1}, stream_)), HasSubstr("for kernel 'bare'"));
  EXPECT_EQ(said(library_["bare"].launch({1}, {1}, stream_)), "") << "the device is usable after";
}

// ---- Several devices
// --------------------------------------------------------------------------------------------------

TEST(KernelDevicesTest, EachDeviceIsLoadedWhenItIsLaunchedOn) {
  FakeGpu gpu(2);
  const CUstream streams[] = {gpu.stream(0), gpu.stream(1)};
  const sdk::KernelLibrary library = gpu.library("bare");
  EXPECT_EQ(fake_cuda().count("cuLibraryLoadData"), 0u);
  for (const CUstream stream : {streams[1], streams[0], streams[1]}) {
    EXPECT_EQ(said(library["bare"].launch({1}, {1}, stream)), "");
  }
  EXPECT_EQ(fake_cuda().count("cuLibraryLoadData"), 1u) << "the same code serves both: it belongs to no context";
  EXPECT_EQ(fake_cuda().count("cuLaunchKernel bare"), 3u);
}

TEST(KernelDevicesTest, StreamsThatAllDevicesHaveNeedTheDevice) {
  FakeGpu gpu(2);
  const sdk::KernelLibrary library = gpu.library("bare");
  EXPECT_EQ(said(library["bare"].launch({1}, {1}, nullptr)),
            "INVALID_ARGUMENT: Stream 0 is one of every device, and there are 2; say the device beside it.");
  const CUstream legacy = CU_STREAM_LEGACY;
  EXPECT_EQ(said(library["bare"].launch({1}, {1}, LaunchTarget(legacy, 1))), "");
  EXPECT_EQ(fake_cuda().count("cuLaunchKernel bare (1, 1, 1) on device 1"), 1u);
  EXPECT_THAT(said(library["bare"].launch({1}, {1}, LaunchTarget(legacy, 2))), HasSubstr("no CUDA device 2"));
}

TEST(KernelDevicesTest, OneDeviceNeedsNoSaying) {
  FakeGpu gpu;
  EXPECT_EQ(said(gpu.library("bare")["bare"].launch({1}, {1}, nullptr)), "");
  EXPECT_EQ(fake_cuda().count("cuLaunchKernel bare (1, 1, 1) on device 0"), 1u);
}

// ---- Code that is none
// ------------------------------------------------------------------------------------------------

// What KernelLibrary::link takes, and no device.
TEST(KernelCodeTest, PartsAreToldFromCode) {
  FakeGpu gpu;
  const std::string lto_ir = {'\xed', 'C', 'N', '\x7f', 0, 0};
  Elf64_Ehdr object = {};
  std::memcpy(object.e_ident, ELFMAG, SELFMAG);
  object.e_type = ET_REL;
  object.e_machine = EM_X86_64;
  const std::string_view object_bytes(reinterpret_cast<const char*>(&object), sizeof(object));
  for (const auto& [bytes, what] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {lto_ir, "LTO-IR"}, {"!<arch>\n", "an archive (.a)"}, {object_bytes, "an object (.o)"}}) {
    EXPECT_FAILS(gpu.make(bytes, ""), StatusCode::kInvalidArgument,
                 text("bytes are ", what, ": a part, and no code that a device loads; link it first."));
  }
}

TEST(KernelCodeTest, WhatIsWrongWithItIsSaid) {
  FakeGpu gpu;
  const auto made = gpu.make("hello", "");
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().to_string(), HasSubstr("The 5 bytes are no device code that is known"));
  const auto listed = gpu.make("affine", "cuda-sm_80").value()->find("affine");
  ASSERT_FALSE(listed.has_value());
  EXPECT_THAT(listed.error().to_string(),
              HasSubstr("None of the 1 variants of kernel library 'kernels' fits the device (Fake GPU 0, sm_90)."));
  EXPECT_THAT(listed.error().to_string(), HasSubstr("'cuda-sm_80': is machine code for sm_80; the device is sm_90"));
  const auto empty = gpu.make(".version 8.0 .target sm_90", "").value()->find("affine");
  ASSERT_FALSE(empty.has_value());
  EXPECT_THAT(empty.error().to_string(), HasSubstr("ptxas: syntax error in line 1"));
  EXPECT_EQ(said(gpu.library("bare")["bare"].launch({1}, {1}, nullptr)), "") << "the device is usable after";
}

TEST(KernelCodeTest, TheMachineCodeThatFitsIsTaken) {
  FakeGpu gpu;
  const std::string_view older = "scale", fits = "scale bare";
  const KernelVariant variants[] = {{"cuda-ptx", std::as_bytes(std::span(older))},
                                    {"cuda-nvptx-fb", std::as_bytes(std::span(older))},
                                    {"cuda-ptx-compute_90", std::as_bytes(std::span(fits))}};
  const auto library = KernelLibrary::make("fat", variants, gpu.drivers()).value();
  EXPECT_TRUE(library->find("bare").has_value());
}

// ---- The machine's GPU --------------------------------------------------------------------------------------------------

class KernelRealTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = RealGpu::open();
    if (!opened) GTEST_SKIP() << "skipped: " << opened.error().to_string();
    if (testing_support::conformance_ptx().empty()) GTEST_SKIP() << "skipped: nvcc was missing when this was built";
    gpu_ = std::move(*opened);
  }
  std::unique_ptr<RealGpu> gpu_;
};

TEST_F(KernelRealTest, LaunchesOnAStreamAndIntoACapture) {
  const sdk::KernelLibrary library = gpu_->library(testing_support::conformance_ptx());
  auto* values = gpu_->memory<uint32_t>(128);
  for (uint32_t i = 0; i < 128; ++i) values[i] = i;
  ASSERT_EQ(said(library["scale"].launch({2}, {64}, gpu_->stream(), values, 128u, 3u)), "");
  gpu_->wait();
  EXPECT_EQ(values[127], 381u);

  CUgraph graph = nullptr;
  const auto& cuda = gpu_->symbols();
  cuda.cuGraphCreate(&graph, 0);
  cuda.cuStreamBeginCaptureToGraph(gpu_->stream(), graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(said(library["scale"].launch({2}, {64}, gpu_->stream(), values, 128u, 2u)), "");
  ASSERT_EQ(cuda.cuStreamEndCapture(gpu_->stream(), &graph), CUDA_SUCCESS);
  CUgraphExec instance = nullptr;
  ASSERT_EQ(cuda.cuGraphInstantiateWithFlags(&instance, graph, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) cuda.cuGraphLaunch(instance, gpu_->stream());
  gpu_->wait();
  EXPECT_EQ(values[127], 4u * 381u);
}

TEST_F(KernelRealTest, WhatIsWrongIsASentenceAndTheDeviceIsUsableAfter) {
  const sdk::KernelLibrary library = gpu_->library(testing_support::conformance_ptx());
  auto* values = gpu_->memory<uint32_t>(64);
  values[0] = 5;
  EXPECT_EQ(said(library["scale"].launch({1}, {64}, gpu_->stream(), values, uint64_t{1}, 2u)),
            "INVALID_ARGUMENT: Kernel 'scale' takes 3 parameters of (8, 4, 4) bytes; 3 of (8, 8, 4) bytes are given.");
  EXPECT_THAT(said(library["scael"]), HasSubstr("'scale'"));
  EXPECT_THAT(said(library["scale"].launch({.block = {64}, .shared_bytes = 1 << 20}, gpu_->stream(), values, 1u, 2u)),
              HasSubstr("bytes of shared memory"));
  EXPECT_THAT(said(library["scale"].launch({1}, {4096}, gpu_->stream(), values, 1u, 2u)), HasSubstr("4096 threads"));
  EXPECT_NE(said(gpu_->library(".version 8.0\n.target sm_75\nnoise")["scale"]), "");
  EXPECT_EQ(said(library["scale"].launch({.block = {64}, .shared_bytes = 100 * 1024}, gpu_->stream(), values, 1u, 2u)),
            "");
  gpu_->wait();
  EXPECT_EQ(values[0], 10u);
}

}  // namespace
}  // namespace baton::modules
