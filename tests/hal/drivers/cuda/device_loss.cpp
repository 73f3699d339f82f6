// Goal: a device that is lost while several threads work on it tells each of them, and none hangs; another device opens
// afterwards. Method: on the fake GPU a launch in the middle of everybody's work makes the next event an illegal address.
#include <atomic>
#include <thread>

#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fail_next;
using testing_support::fake_cuda;
using testing_support::FakeLaunch;

std::atomic<int> launches_left{0};

// The fake holds its lock while a kernel runs.
void scale_and_lose(const FakeLaunch&) {
  if (--launches_left != 0) return;
  fail_next("cuEventRecord", CUDA_ERROR_ILLEGAL_ADDRESS);
}

class DeviceLossTest : public testing::TestWithParam<const char*> {};

TEST_P(DeviceLossTest, EveryoneWhoWorksHearsOfIt) {
  const auto device = open_fake(GetParam());
  for (auto& kernel : fake_cuda().kernels) {
    if (kernel.name == "scale") kernel.run = scale_and_lose;
  }
  const auto kernels = load_kernels(*device, kFakeCode);
  constexpr int kThreads = 4;
  std::vector<Ref<hal::Buffer>> buffers;
  std::vector<Ref<hal::Recording>> recordings;
  for (int i = 0; i < kThreads; ++i) {
    buffers.push_back(buffer_of(*device, {1, 2, 3, 4}));
    auto commands = device->make_command_buffer({.name = "work"}).value();
    const uint32_t constants[] = {4, 2};
    const Binding binding(buffers.back());
    EXPECT_OK(commands->dispatch(
        {.executable = kernels.get(), .entry_point = 0, .constants = constants, .bindings = {&binding, 1}}));
    recordings.push_back(commands->finish().value());
  }
  launches_left = 200;
  std::atomic<int> lost{0}, done{0};
  std::vector<std::thread> threads;
  for (const Ref<hal::Recording>& recording : recordings) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const Status status = run(*device, *recording);
        ++done;
        if (status.ok()) continue;
        EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status.to_string();
        ++lost;
        break;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, kThreads);
  EXPECT_LT(done, 4000);
  EXPECT_FAILS(device->allocator().allocate({.length = uint64_t{1} << 22}), StatusCode::kDataLoss, "is lost");
  EXPECT_EQ(device->queue().wait_idle().code(), StatusCode::kDataLoss);

  const auto again = open_fake(GetParam());
  const auto values = buffer_of(*again, {1, 2, 3, 4});
  EXPECT_EQ(values_of(*values), (std::vector<uint32_t>{1, 2, 3, 4}));
}

INSTANTIATE_TEST_SUITE_P(Fake, DeviceLossTest, testing::Values("stream", "graph"));

}  // namespace
}  // namespace baton::hal::drivers::cuda
