// Queue: operations wait for semaphores and signal them, in any order of submission; failures reach every waiter.
#include <cstdio>
#include <thread>

#include "hal/file.hpp"
#include "hal/host_function.hpp"
#include "hal/slot_table.hpp"
#include "tests/conformance/suite.hpp"
#include "tests/support/temporary_path.hpp"

namespace baton::hal::conformance {
namespace {

class QueueTest : public DeviceTest {};

TEST_P(QueueTest, WorkWaitsForItsSemaphores) {
  const auto go = semaphore(), done = semaphore();
  const auto values = buffer_of<uint32_t>({1});
  const SemaphorePoint wait(go, 1), signal(done, 1);
  EXPECT_OK(queue().fill_buffer({{&wait, 1}, {&signal, 1}}, {.target = values, .pattern = 2}));
  EXPECT_FALSE(done->reached(1));
  expect_values<uint32_t>(*values, {1});
  EXPECT_OK(go->signal(1));
  EXPECT_OK(done->wait(1));
  expect_values<uint32_t>(*values, {2});
}

TEST_P(QueueTest, ALongChainSubmittedBackwardsRuns) {
  const auto chain = semaphore();
  constexpr uint64_t kLength = 5000;
  for (uint64_t i = kLength; i > 0; --i) {
    const SemaphorePoint wait(chain, i), signal(chain, i + 1);
    ASSERT_OK(queue().barrier({{&wait, 1}, {&signal, 1}}));
  }
  EXPECT_OK(chain->signal(1));
  EXPECT_OK(chain->wait(kLength + 1));
}

TEST_P(QueueTest, AllWaitsCount) {
  const auto first = semaphore(), second = semaphore(), done = semaphore();
  const SemaphorePoint waits[] = {{first, 3}, {second, 5}};
  const SemaphorePoint signal(done, 1);
  EXPECT_OK(queue().barrier({waits, {&signal, 1}}));
  EXPECT_OK(second->signal(5));
  EXPECT_OK(first->signal(2));
  EXPECT_FALSE(done->reached(1));
  EXPECT_OK(first->signal(3));
  EXPECT_OK(done->wait(1));
}

TEST_P(QueueTest, AFailedWaitFailsTheSignals) {
  const auto go = semaphore(), never = semaphore(), middle = semaphore(), done = semaphore();
  const SemaphorePoint waits[] = {{go, 1}, {never, 1}};
  const SemaphorePoint middle_point(middle, 1), signal(done, 1);
  EXPECT_OK(queue().barrier({waits, {&middle_point, 1}}));
  EXPECT_OK(queue().barrier({{&middle_point, 1}, {&signal, 1}}));
  go->fail(failure(StatusCode::kUnavailable, "The train is late."));
  EXPECT_FAILS(middle->wait(1), StatusCode::kUnavailable, "The train is late.");
  EXPECT_FAILS(done->wait(1), StatusCode::kUnavailable, "The train is late.");
  EXPECT_OK(never->signal(1));
  EXPECT_OK(queue().wait_idle());
}

TEST_P(QueueTest, ASemaphoreThatGoesAwayFailsWhoWaits) {
  const auto done = semaphore();
  {
    const auto forgotten = semaphore();
    const SemaphorePoint wait(forgotten, 1), signal(done, 1);
    EXPECT_OK(queue().barrier({{&wait, 1}, {&signal, 1}}));
  }
  EXPECT_FAILS(done->wait(1), StatusCode::kAborted, "The semaphore went away");
}

TEST_P(QueueTest, KeepsFailuresThatNoSemaphoreCarries) {
  if (!computes()) GTEST_SKIP() << "nothing runs, so nothing fails";
  const auto refuse =
      make_host_function("refuse", [](const HostCallArguments&) { return failure(StatusCode::kInternal, "No."); });
  EXPECT_OK(queue().host_call({}, *refuse));
  EXPECT_FAILS(queue().wait_idle(), StatusCode::kInternal, "No.");
  EXPECT_OK(queue().wait_idle());
}

TEST_P(QueueTest, RefusesOrdersThatCannotBe) {
  const auto reached = semaphore(4);
  const SemaphorePoint nobody, back(reached, 4);
  EXPECT_FAILS(queue().barrier({{&nobody, 1}, {}}), StatusCode::kInvalidArgument,
               "A wait of the operation has no semaphore.");
  EXPECT_FAILS(queue().barrier({{}, {&nobody, 1}}), StatusCode::kInvalidArgument,
               "A signal of the operation has no semaphore.");
  EXPECT_FAILS(queue().barrier({{}, {&back, 1}}), StatusCode::kInvalidArgument, "has reached already");
}

TEST_P(QueueTest, WaitIdleTimesOut) {
  const auto go = semaphore();
  const SemaphorePoint wait(go, 1);
  EXPECT_OK(queue().barrier({{&wait, 1}, {}}));
  EXPECT_FAILS(queue().wait_idle(1'000'000), StatusCode::kDeadlineExceeded, "1 operations in flight");
  EXPECT_OK(go->signal(1));
  EXPECT_OK(queue().wait_idle());
}

// Whatever thread saw the work done: nothing of it is kept when the queue is idle.
TEST_P(QueueTest, LetsGoOfWhatRanBeforeItIsIdle) {
  const auto held = std::make_shared<int>();
  const auto call = [&] {
    return make_host_function("held", [held](const HostCallArguments&) -> Status { return {}; });
  };
  const auto go = semaphore();
  for (uint64_t round = 1; round <= 40; ++round) {
    const uint64_t live = device().allocator().memory_use().live_bytes;
    const SemaphorePoint wait(go, round);
    const std::span<const SemaphorePoint> waits(&wait, round % 2);  // It begins now, or later.
    {
      const auto commands = record({});
      EXPECT_OK(commands->host_call({.function = call().get()}));
      EXPECT_OK(queue().execute({waits, {}}, *finish(*commands)));
      EXPECT_OK(queue().host_call({waits, {}}, *call()));
      EXPECT_OK(queue().fill_buffer({waits, {}}, {.target = buffer(64), .pattern = 1}));
    }
    EXPECT_OK(go->signal(round));
    ASSERT_OK(queue().wait_idle());
    ASSERT_EQ(held.use_count(), 1) << "round " << round;
    ASSERT_EQ(device().allocator().memory_use().live_bytes, live) << "round " << round;
  }
}

TEST_P(QueueTest, AllocatesAndFreesInOrder) {
  const auto order = semaphore();
  const SemaphorePoint one(order, 1), two(order, 2), three(order, 3);
  auto buffer = queue().allocate({{}, {&one, 1}}, {.length = 4096});
  ASSERT_OK(buffer);
  const uint64_t live = device().allocator().memory_use().live_bytes;
  EXPECT_GE(live, 4096u);
  EXPECT_OK(queue().fill_buffer({{&one, 1}, {&two, 1}}, {.target = *buffer, .pattern = 1}));
  EXPECT_OK(queue().free({{&two, 1}, {&three, 1}}, **buffer));
  EXPECT_OK(order->wait(3));
  EXPECT_FAILS(queue().free({}, **buffer), StatusCode::kFailedPrecondition,
               "The buffer (4096 bytes) was freed before.");
  EXPECT_FAILS(queue().fill_buffer({}, {.target = *buffer}), StatusCode::kFailedPrecondition,
               "Fill target is a buffer that was freed.");
  EXPECT_FAILS((*buffer)->map(Access::kRead), StatusCode::kFailedPrecondition, "Mapping of a buffer that was freed.");
  EXPECT_OK(queue().wait_idle());
  buffer = this->buffer(4);
  EXPECT_EQ(device().allocator().memory_use().live_bytes, live - 4096 + 4);
}

TEST_P(QueueTest, FreedBuffersDoNotFillSlots) {
  const auto commands = record({.slot_count = 1});
  EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{0}, 0, 4)}));
  const auto recording = finish(*commands);
  const auto freed = buffer(4);
  EXPECT_OK(queue().free({}, *freed));
  const BufferRange table[] = {freed};
  EXPECT_FAILS(queue().execute({}, *recording, {.buffers = table}), StatusCode::kFailedPrecondition,
               "Slot 0 is a buffer that was freed.");
}

// A driver that knows the table already, from an execution that was allowed, looks again.
TEST_P(QueueTest, BuffersFreedSinceTheLastExecutionDoNotFillSlots) {
  const auto commands = record({.slot_count = 1});
  EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{0}, 0, 4)}));
  const auto recording = finish(*commands);
  for (const bool deferred : {false, true}) {
    const auto freed = buffer(4);
    const BufferRange ranges[] = {freed};
    SlotTable slots(1);
    slots.set(0, ranges[0]);
    for (const BindingTable& table : {BindingTable{.buffers = ranges}, slots.table()}) {
      const auto go = semaphore(), done = semaphore();
      const SemaphorePoint wait(go, 1), signal(done, 1);
      if (!deferred) {
        EXPECT_OK(go->signal(1));
      }
      EXPECT_OK(queue().execute({{&wait, 1}, {&signal, 1}}, *recording, table));
      if (table.kept_by) {
        EXPECT_OK(queue().free({{&signal, 1}, {}}, *freed));
      }
      if (deferred) {
        EXPECT_OK(go->signal(1));
      }
      EXPECT_OK(done->wait(1));
    }
    for (const BindingTable& table : {BindingTable{.buffers = ranges}, slots.table()}) {
      EXPECT_FAILS(queue().execute({}, *recording, table), StatusCode::kFailedPrecondition,
                   "Slot 0 is a buffer that was freed.");
    }
  }
}

TEST_P(QueueTest, RefusesToFreeParts) {
  const auto whole = buffer(64);
  const auto part = whole->subspan(0, 32).value();
  EXPECT_FAILS(queue().free({}, *part), StatusCode::kInvalidArgument, "A subspan cannot be freed");
  const Ref<Device> other = GetParam()->open().value();
  EXPECT_FAILS(other->queue().free({}, *whole), StatusCode::kInvalidArgument, "belongs to another device");
}

TEST_P(QueueTest, ReadsAndWritesFiles) {
  const std::string path = testing_support::temporary_path("queue_test_" + backend_test_name({GetParam(), 0}));
  const auto written = buffer_of<uint32_t>({1, 2, 3, 4});
  const auto read = buffer_of<uint32_t>({0, 0, 0, 0});
  const auto order = semaphore();
  const SemaphorePoint one(order, 1), two(order, 2);
  const auto file = File::open(path, FileMode::kCreate).value();
  EXPECT_OK(queue().write_file({{}, {&one, 1}}, written, *file, 4));
  EXPECT_OK(queue().read_file({{&one, 1}, {&two, 1}}, *file, 8, BufferRange(read.get(), 4, 8)));
  EXPECT_OK(order->wait(2));
  expect_values<uint32_t>(*read, {0, 2, 3, 0});
  if (computes()) {
    const SemaphorePoint three(order, 3);
    EXPECT_OK(queue().read_file({{}, {&three, 1}}, *file, 16, read));
    EXPECT_FAILS(order->wait(3), StatusCode::kOutOfRange, "ends beyond the end of the file (20)");
  }
  EXPECT_FAILS(queue().read_file({}, *file, 0, BufferRange(read.get(), 8, 16)), StatusCode::kOutOfRange,
               "File read target [8, 24) ends beyond the buffer length (16).");
  std::remove(path.c_str());
  EXPECT_FAILS(File::open(path, FileMode::kRead), StatusCode::kNotFound, "Cannot open '");
}

TEST_P(QueueTest, TheDeviceMayGoWhileWorkIsKept) {
  const auto go = semaphore(), done = semaphore();
  {
    const Ref<Device> other = GetParam()->open().value();
    const SemaphorePoint wait(go, 1), signal(done, 1);
    const auto nothing = make_host_function("nothing", [](const HostCallArguments&) -> Status { return {}; });
    EXPECT_OK(other->queue().host_call({{&wait, 1}, {&signal, 1}}, *nothing));
  }
  EXPECT_OK(go->signal(1));
  EXPECT_OK(done->wait(1));
}

TEST_P(QueueTest, ExecutionsAreTimedForWhoAsks) {
  auto commands = record();
  EXPECT_OK(commands->fill_buffer({.target = buffer(4096), .pattern = 1}));
  const auto recording = finish(*commands);
  EXPECT_OK(run(*recording));
  const Status timed = queue().time_executions(true);
  if (!computes()) {
    EXPECT_FAILS(timed, StatusCode::kUnimplemented, "has no clock.");
    return;
  }
  EXPECT_OK(timed);
  EXPECT_EQ(queue().take_execution_times().executions, 0u);  // What went before is nobody's.
  for (int i = 0; i < 3; ++i) EXPECT_OK(run(*recording));
  const ExecutionTimes three = queue().take_execution_times();
  EXPECT_EQ(three.executions, 3u);
  EXPECT_GT(three.total_ns, 0);
  EXPECT_LT(three.total_ns, int64_t{10'000'000'000});
  EXPECT_OK(run(*recording));
  EXPECT_OK(queue().time_executions(false));
  EXPECT_OK(run(*recording));
  EXPECT_EQ(queue().take_execution_times().executions, 1u);
  EXPECT_EQ(queue().take_execution_times().executions, 0u);
}

BATON_CONFORMANCE(QueueTest);

}  // namespace
}  // namespace baton::hal::conformance
