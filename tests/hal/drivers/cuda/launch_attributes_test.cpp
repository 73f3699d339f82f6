// Clusters, cooperative launches and launches that begin early, as the machine's GPU does them: each kernel finds out
// for itself. What the driver is told, and what is refused, executable_test.cpp reads on the fake GPU.
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

constexpr std::string_view kPtx = R"(
.version 8.0
.target sm_90
.address_size 64
// out[block] = 100 * blocks in the cluster + rank in it
.visible .entry ranks(.param .u64 out) {
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %cluster_ctarank;
  mov.u32 %r3, %cluster_nctarank;
  mad.lo.u32 %r4, %r3, 100, %r2;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r4;
  ret;
}
.visible .entry fixed_ranks(.param .u64 out) .explicitcluster .reqnctapercluster 2, 1, 1 {
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %cluster_ctarank;
  mov.u32 %r3, %cluster_nctarank;
  mad.lo.u32 %r4, %r3, 100, %r2;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r4;
  ret;
}
// out[0] counts the blocks; each waits until all are there, and adds one to out[1].
.visible .entry meet(.param .u64 out) {
  .reg .b32 %r<6>;
  .reg .b64 %d<3>;
  .reg .pred %p;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %nctaid.x;
  atom.global.add.u32 %r2, [%d1], 1;
again:
  ld.volatile.global.u32 %r3, [%d1];
  setp.lt.u32 %p, %r3, %r1;
  @%p bra again;
  atom.global.add.u32 %r4, [%d1+4], 1;
  ret;
}
// Lets the next one begin, waits for the one before, and adds one to out[0] without an atomic.
.visible .entry early(.param .u64 out) {
  .reg .b32 %r<3>;
  .reg .b64 %d<2>;
  griddepcontrol.launch_dependents;
  griddepcontrol.wait;
  ld.param.u64 %d1, [out];
  ld.volatile.global.u32 %r1, [%d1];
  add.u32 %r2, %r1, 1;
  st.volatile.global.u32 [%d1], %r2;
  ret;
}
)";

class LaunchAttributesTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto opened = open_real(GetParam());
    if (!opened.has_value()) GTEST_SKIP() << "skipped: no CUDA device (" << opened.error().to_string() << ")";
    device_ = std::move(opened).value();
    const int arch = static_cast<Device&>(*device_).context().facts().arch();
    if (arch < 90) GTEST_SKIP() << "skipped: clusters and early launches came with sm_90; the device is sm_" << arch;
  }

  // What `out` holds after some dispatches of the kernel, one behind the other.
  std::vector<uint32_t> run_kernel(const EntryPoint& entry, uint32_t workgroups, uint32_t times = 1) {
    const ExecutableVariant variant{"cuda-ptx-compute_90", std::as_bytes(std::span(kPtx))};
    const auto executable =
        device_->make_executable({.name = "attributes", .variants = {&variant, 1}, .expected = {&entry, 1}});
    EXPECT_OK(executable);
    const auto out = buffer_of(*device_, std::vector<uint32_t>(8));
    auto commands = device_->make_command_buffer({.name = "attributes"}).value();
    const Binding bindings[] = {out};
    for (uint32_t i = 0; i < times; ++i) {
      EXPECT_OK(
          commands->dispatch({.executable = executable->get(), .grid = {workgroups, 1, 1}, .bindings = bindings}));
      EXPECT_OK(commands->barrier({}));
    }
    EXPECT_OK(run(*device_, *commands->finish().value()));
    return values_of(*out);
  }

  // What two buffers hold after a recording was executed with the one, the other, and the one again.
  std::vector<uint32_t> run_with_tables(const EntryPoint& entry, uint32_t workgroups) {
    const ExecutableVariant variant{"cuda-ptx-compute_90", std::as_bytes(std::span(kPtx))};
    const auto executable =
        device_->make_executable({.name = "attributes", .variants = {&variant, 1}, .expected = {&entry, 1}});
    EXPECT_OK(executable);
    auto commands = device_->make_command_buffer({.name = "tables", .slot_count = 1}).value();
    const Binding slot[] = {Slot{0}};
    EXPECT_OK(commands->dispatch({.executable = executable->get(), .grid = {workgroups, 1, 1}, .bindings = slot}));
    const auto recording = commands->finish().value();
    const Ref<hal::Buffer> outs[] = {buffer_of(*device_, std::vector<uint32_t>(2)),
                                     buffer_of(*device_, std::vector<uint32_t>(2))};
    for (const int which : {0, 1, 0}) {
      const BufferRange table[] = {outs[which]};
      EXPECT_OK(device_->queue().fill_buffer({}, {.target = outs[which], .pattern = 0}));
      EXPECT_OK(device_->queue().wait_idle());
      EXPECT_OK(run(*device_, *recording, {.buffers = table}));
    }
    return {values_of(*outs[0])[1], values_of(*outs[1])[1]};
  }

  Ref<hal::Device> device_;
};

TEST_P(LaunchAttributesTest, WorkgroupsRunInClusters) {
  const EntryPoint entry{.name = "ranks", .binding_count = 1, .launch = {.cluster_size = {4, 1, 1}}};
  EXPECT_EQ(run_kernel(entry, 8), (std::vector<uint32_t>{400, 401, 402, 403, 400, 401, 402, 403}));
}

TEST_P(LaunchAttributesTest, CodeSaysItsCluster) {
  const EntryPoint entry{.name = "fixed_ranks", .binding_count = 1};
  EXPECT_EQ(run_kernel(entry, 8), (std::vector<uint32_t>{200, 201, 200, 201, 200, 201, 200, 201}));
}

TEST_P(LaunchAttributesTest, CooperativeWorkgroupsMeet) {
  const uint32_t all = 16 * static_cast<uint32_t>(static_cast<Device&>(*device_).context().facts().multiprocessors);
  const EntryPoint entry{.name = "meet", .binding_count = 1, .launch = {.cooperative = true}};
  EXPECT_EQ(run_kernel(entry, all)[1], all);
}

// A graph takes new parameters for its nodes; what they ask of their launches stays.
TEST_P(LaunchAttributesTest, CooperativeWorkgroupsMeetWithEachTable) {
  const uint32_t all = 16 * static_cast<uint32_t>(static_cast<Device&>(*device_).context().facts().multiprocessors);
  const EntryPoint entry{.name = "meet", .binding_count = 1, .launch = {.cooperative = true}};
  EXPECT_EQ(run_with_tables(entry, all), (std::vector<uint32_t>{all, all}));
}

TEST_P(LaunchAttributesTest, WorkgroupsRunInClustersWithEachTable) {
  const EntryPoint entry{.name = "ranks", .binding_count = 1, .launch = {.cluster_size = {2, 1, 1}}};
  EXPECT_EQ(run_with_tables(entry, 2), (std::vector<uint32_t>{201, 201}));
}

TEST_P(LaunchAttributesTest, WhatBeginsEarlyWaitsForWhatItStandsBehind) {
  const EntryPoint entry{.name = "early", .binding_count = 1, .launch = {.early = true}};
  EXPECT_EQ(run_kernel(entry, 1, 200)[0], 200u);
}

TEST_P(LaunchAttributesTest, PriorityAndCarveoutAreTaken) {
  const EntryPoint entry{
      .name = "early", .binding_count = 1, .launch = {.local_memory_carveout_percent = 25, .priority = 1}};
  EXPECT_EQ(run_kernel(entry, 1, 3)[0], 3u);
}

INSTANTIATE_TEST_SUITE_P(Real, LaunchAttributesTest, testing::Values("stream", "graph"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
}  // namespace baton::hal::drivers::cuda
