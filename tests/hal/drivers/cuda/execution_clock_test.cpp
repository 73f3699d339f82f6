// Times of executions on the fake GPU: taken while somebody wants to know and else not, and the events come round.
#include "hal/drivers/cuda/execution_clock.hpp"

#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fake_cuda;

TEST(ExecutionClockTest, ExecutionsAreReadWhileItIsOnAndOnlyThen) {
  for (const std::string_view mode : {"stream", "graph"}) {
    const auto device = open_fake(mode);
    auto commands = device->make_command_buffer({.name = "fill"}).value();
    EXPECT_OK(commands->fill_buffer({.target = buffer_of(*device, {1}), .pattern = 2}));
    const auto recording = commands->finish().value();
    hal::Queue& queue = device->queue();
    EXPECT_OK(queue.execute({}, *recording));
    EXPECT_OK(queue.time_executions(true));
    for (int i = 0; i < 5; ++i) EXPECT_OK(queue.execute({}, *recording));
    EXPECT_OK(queue.time_executions(false));
    EXPECT_OK(queue.execute({}, *recording));
    const ExecutionTimes times = queue.take_execution_times();
    EXPECT_EQ(times.executions, 5u);
    EXPECT_EQ(times.total_ns, 5 * 250'000);  // As the fake says.
    EXPECT_EQ(fake_cuda().count("cuEventElapsedTime"), 5u);
  }
}

TEST(ExecutionClockTest, EventsThatNobodyAsksForComeRound) {
  const auto context = PrimaryContext::retain_device(testing_support::make_fake_cuda(), 0).value();
  ExecutionClock clock(context);
  const ContextScope scope = context->enter();
  for (int i = 0; i < 3000; ++i) {
    ExecutionClock::Span span;
    ASSERT_OK(clock.begin(nullptr, span));
    ASSERT_OK(clock.end(nullptr, span));
  }
  EXPECT_LE(fake_cuda().count("cuEventCreate"), 1000u);
  EXPECT_EQ(clock.take().executions, 3000u);
}

TEST(ExecutionClockTest, WhatIsUnderWayIsToldLater) {
  const auto context = PrimaryContext::retain_device(testing_support::make_fake_cuda(), 0).value();
  ExecutionClock clock(context);
  const ContextScope scope = context->enter();
  ExecutionClock::Span span;
  ASSERT_OK(clock.begin(nullptr, span));
  ASSERT_OK(clock.end(nullptr, span));
  fake_cuda().events_pass = false;
  EXPECT_EQ(clock.take().executions, 0u);
  fake_cuda().events_pass = true;
  EXPECT_EQ(clock.take().executions, 1u);
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
