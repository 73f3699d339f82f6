// Goal: what launches ask of a GPU beyond a grid and a block is what it gives: clusters, workgroups that all run at once, priorities,
// early launches, occupancy, variables of the code, commands that each execution's table patches. Method: kernels whose results
// tell it (real_kernels.cu), on the machine's GPU; skipped without one. tests/gpu/run runs them there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "hal/allocator.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "modules/hal_module/objects.hpp"
#include "real_kernels.h"
#include "tests/modules/kernel_library/cuda_kernels.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::modules {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class KernelRealLaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = RealGpu::open();
    if (!opened) GTEST_SKIP() << "skipped: " << opened.error().to_string();
    gpu_ = std::move(*opened);
    std::vector<KernelVariant> variants;
    const baton_embedded_kernels& embedded = BATON_EMBEDDED_LIBRARY(real);
    for (const auto& [format, begin, end] : std::span(embedded.variants, embedded.variant_count)) {
      variants.push_back({{format.data, static_cast<size_t>(format.size)},
                          {static_cast<const std::byte*>(begin), static_cast<const std::byte*>(end)}});
    }
    Ref<KernelLibrary> made = KernelLibrary::make("real", variants, gpu_->drivers()).value();
    library_.emplace(sdk::KernelLibrary::adopt(reinterpret_cast<baton_kernel_library*>(made.detach())));
  }
  // The numbers from 1 to `count`, where both sides see them.
  float* numbers(int count) const {
    auto* values = gpu_->memory<float>(static_cast<size_t>(count));
    std::iota(values, values + count, 1.0f);
    return values;
  }
  const sdk::KernelLibrary& library() const { return *library_; }

  std::unique_ptr<RealGpu> gpu_;
  std::optional<sdk::KernelLibrary> library_;
};

TEST_F(KernelRealLaunchTest, WorkgroupsOfAClusterReadEachOther) {
  float* const x = numbers(8);
  float* const sums = numbers(8);
  const std::string refused =
      said(library()["sum_cluster"].launch({.grid = {8}, .cluster = {4, 1, 1}}, gpu_->stream(), x, sums));
  if (refused.find("has none") != refused.npos) GTEST_SKIP() << "skipped: " << refused;
  ASSERT_EQ(refused, "");
  gpu_->wait();
  EXPECT_THAT(std::vector<float>(sums, sums + 8), ElementsAre(10, 10, 10, 10, 26, 26, 26, 26));
  // A grid that clusters do not divide, and clusters larger than a device has.
  EXPECT_NE(said(library()["sum_cluster"].launch({.grid = {6}, .cluster = {4, 1, 1}}, gpu_->stream(), x, sums)), "");
  EXPECT_NE(said(library()["sum_cluster"].launch({.grid = {64}, .cluster = {64, 1, 1}}, gpu_->stream(), x, sums)), "");
  ASSERT_EQ(said(library()["sum_cluster"].launch({.grid = {8}, .cluster = {2, 1, 1}}, gpu_->stream(), x, sums)), "");
  gpu_->wait();
  EXPECT_THAT(std::vector<float>(sums, sums + 8), ElementsAre(3, 3, 7, 7, 11, 11, 15, 15));
}

TEST_F(KernelRealLaunchTest, CooperativeWorkgroupsAllRunAtOnce) {
  const auto occupancy = library()["sum_all"].value().occupancy(0, 1);
  ASSERT_EQ(said(occupancy), "");
  const int most = static_cast<int>(occupancy->workgroups_per_multiprocessor * occupancy->multiprocessors);
  ASSERT_GT(most, 0);
  float* const x = numbers(most);
  int* const arrived = gpu_->memory<int>(1);
  *arrived = 0;
  LaunchShape shape = {.grid = {static_cast<uint32_t>(most)}, .cooperative = true};
  ASSERT_EQ(said(library()["sum_all"].launch(shape, gpu_->stream(), x, arrived, 100)), "") << most;
  gpu_->wait();
  EXPECT_EQ(*arrived, most);
  // One more than there is room for would wait for ever; it is refused.
  shape.grid.x = static_cast<uint32_t>(most) + 1;
  EXPECT_NE(said(library()["sum_all"].launch(shape, gpu_->stream(), x, arrived, most + 1)), "");
  *arrived = 0;
  shape.grid.x = 8;
  float* const y = numbers(8);
  ASSERT_EQ(said(library()["sum_all"].launch(shape, gpu_->stream(), y, arrived, 8)), "");
  gpu_->wait();
  EXPECT_THAT(std::vector<float>(y, y + 8), Each(36));
}

// A kernel of higher priority gets through while another one waits for it, and priorities beyond what there is are the nearest.
TEST_F(KernelRealLaunchTest, PrioritiesAndEarlyLaunchesRunAsTheyAreAsked) {
  int* const flag = gpu_->memory<int>(2);
  // CUDA loads code when it first runs, which waits for what runs: both have run before one waits for the other.
  for (const int value : {1, 0}) {
    ASSERT_EQ(said(library()["set_to"].launch({}, gpu_->stream(), flag + 0, value)), "");
    if (value == 1) {
      ASSERT_EQ(said(library()["wait_for"].launch({}, gpu_->stream(), flag + 0, flag + 1)), "");
    }
    gpu_->wait();
  }
  flag[1] = 0;
  CUstream other = nullptr;
  ASSERT_EQ(gpu_->symbols().cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  ASSERT_EQ(said(library()["wait_for"].launch({.priority = INT32_MIN}, gpu_->stream(), flag + 0, flag + 1)), "");
  ASSERT_EQ(said(library()["set_to"].launch({.priority = INT32_MAX}, other, flag + 0, 1)), "");
  gpu_->wait();
  EXPECT_THAT(std::vector<int>(flag, flag + 2), ElementsAre(1, 1));
  gpu_->symbols().cuStreamDestroy(other);
  float* const x = numbers(8);
  for (int i = 0; i < 4; ++i) {
    const std::string refused =
        said(library()["increment"].launch({.block = {8}, .early = true}, gpu_->stream(), x + 0));
    if (refused.find("sm_") != refused.npos) GTEST_SKIP() << "skipped: " << refused;
    ASSERT_EQ(refused, "");
  }
  gpu_->wait();
  EXPECT_THAT(std::vector<float>(x, x + 8), ElementsAre(5, 6, 7, 8, 9, 10, 11, 12));
}

TEST_F(KernelRealLaunchTest, OccupancyIsTheDevices) {
  const auto kernel = library()["affine"];
  ASSERT_EQ(said(kernel), "");
  const auto few = kernel->occupancy(0, 1024), many = kernel->occupancy(0, 64),
             shared = kernel->occupancy(0, 64, 40000);
  for (const auto* each : {&few, &many, &shared}) ASSERT_EQ(said(*each), "");
  EXPECT_GE(few->workgroups_per_multiprocessor, 1u);
  EXPECT_LE(few->workgroups_per_multiprocessor, 2u) << "of 2048 threads at most";
  EXPECT_GT(many->workgroups_per_multiprocessor, few->workgroups_per_multiprocessor);
  EXPECT_LT(shared->workgroups_per_multiprocessor, many->workgroups_per_multiprocessor);
  int multiprocessors = 0;
  gpu_->symbols().cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  EXPECT_EQ(few->multiprocessors, static_cast<uint32_t>(multiprocessors));
  EXPECT_GE(few->block_for_most, 32u);
  EXPECT_LE(few->block_for_most, 1024u);
  EXPECT_EQ(few->block_for_most % 32, 0u);
}

TEST_F(KernelRealLaunchTest, VariablesOfTheCodeAreWrittenByTheirAddress) {
  const auto counters = library().global(0, "counters");
  ASSERT_EQ(said(counters), "");
  EXPECT_EQ(counters->bytes, 16u);
  int* const out = gpu_->memory<int>(4);
  ASSERT_EQ(said(library()["read_counters"].launch({1}, {4}, gpu_->stream(), out)), "");
  gpu_->wait();
  EXPECT_THAT(std::vector<int>(out, out + 4), ElementsAre(1, 2, 3, 4));
  ASSERT_EQ(said(library()["set_to"].launch({1}, {1}, gpu_->stream(), counters->address + 8, 77)), "");
  ASSERT_EQ(said(library()["read_counters"].launch({1}, {4}, gpu_->stream(), out)), "");
  gpu_->wait();
  EXPECT_THAT(std::vector<int>(out, out + 4), ElementsAre(1, 2, 77, 4));
  EXPECT_THAT(said(library().global(0, "counter")), HasSubstr("has no variable 'counter'"));
}

TEST_F(KernelRealLaunchTest, ACommandIsPatchedByTheTableOfEachExecution) {
  for (const char* uri : {"cuda?cuda_mode=stream", "cuda?cuda_mode=graph"}) {
    const Ref<hal::Device> device = gpu_->drivers()->open(uri).value();
    const auto buffer = [&](std::vector<float> values) {
      auto made = device->allocator().allocate({.length = values.size() * sizeof(float)}).value();
      EXPECT_OK(device->queue().wait_idle());
      const auto mapping = made->map(hal::Access::kDiscardWrite).value();
      std::memcpy(mapping.bytes().data(), values.data(), values.size() * sizeof(float));
      return made;
    };
    auto commands = device->make_command_buffer({.name = "program", .slot_count = 2}).value();
    auto handle = sdk::make<Handle<hal::CommandBuffer>>(std::move(commands), *device);
    const hal::CustomCommand custom = {"app", "affine"};
    const sdk::Binding<const float> x(baton_binding{nullptr, 0, BATON_ACCESS_READ, 0, 8});
    const sdk::Binding<float> y(baton_binding{nullptr, 1, BATON_ACCESS_READ_WRITE, 4, 8});
    handle->open_for(&custom);
    EXPECT_EQ(said(library()["affine"].value().record(reinterpret_cast<sdk::CommandBuffer&>(*handle), {1}, {32},
                                                      int16_t{1}, x, Scaling{2, 0, 2}, y)),
              "");
    handle->open_for(nullptr);
    const auto recording = (**handle).finish().value();
    for (const float first : {1.0f, 5.0f, 1.0f}) {
      const auto source = buffer({first, 10}), target = buffer({0, 0, 0});
      const hal::BufferRange table[] = {source, target};
      EXPECT_OK(device->queue().execute({}, *recording, {.buffers = table}));
      EXPECT_OK(device->queue().wait_idle());
      const auto mapping = target->map(hal::Access::kRead).value();
      const auto values = mapping.as<float>();
      EXPECT_THAT(std::vector<float>(values.begin(), values.end()), ElementsAre(0, 2 * first + 1, 21)) << uri;
    }
  }
}

}  // namespace
}  // namespace baton::modules
