// Goal: the time of day may jump, and nobody waits longer or shorter for it. Method: this program's own clock_gettime
// tells another hour of the day than the kernel knows; waits that end by time are made under each.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "hal/allocator.hpp"
#include "hal/queue.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace {
std::atomic<int64_t> jump_seconds{0};
}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec += jump_seconds;
  return result;
}

namespace baton::modules {
namespace {

constexpr int64_t kTimeoutNs = 20'000'000;

constexpr std::string_view kProgram = R"(
module @program
import @hal.fence.await(i32, (hal.fence)...) -> i32
export func @wait(%timeout_ms: i32, %fence: hal.fence) -> i32 {
  call.variadic @hal.fence.await, %v0, %r0, [1]
  return
}
)";

TEST(ClockJumpTest, WaitsEndByTheClockThatDoesNotJump) {
  for (const int64_t jump : {int64_t{0}, int64_t{100'000}, int64_t{-100'000}}) {
    jump_seconds = jump;
    for (const char* uri : {"local-sync", "local-task?workers=2&inline_us=0"}) {
      DeviceProgram program(uri, kProgram);
      const Ref<hal::Semaphore> semaphore = program.device->make_semaphore(0).value();
      const auto took = [&](const auto& wait) {
        const int64_t begin_ns = monotonic_clock_ns();
        wait();
        return monotonic_clock_ns() - begin_ns;
      };
      const auto fence = hal::Fence::at(*semaphore, 1);
      const auto fence_object = wrap(fence);
      const vm::TypedValue arguments[] = {int32_t{20}, reinterpret_cast<vm::Object*>(fence_object.get())};
      EXPECT_GE(took([&] { EXPECT_EQ(semaphore->wait(1, kTimeoutNs).code(), StatusCode::kDeadlineExceeded); }),
                kTimeoutNs);
      EXPECT_GE(took([&] { EXPECT_EQ(fence->wait(kTimeoutNs).code(), StatusCode::kDeadlineExceeded); }), kTimeoutNs);
      vm::Value result;
      EXPECT_GE(took([&] {
                  vm::Invocation invocation(program.context);
                  EXPECT_OK(invocation.invoke(program.find("wait"), arguments, {&result, 1}));
                  EXPECT_EQ(result.i32, BATON_DEADLINE_EXCEEDED);
                }),
                kTimeoutNs);
      EXPECT_GE(took([&] {
                  vm::Invocation invocation(program.context);
                  invocation.set_deadline(monotonic_clock_ns() + kTimeoutNs);
                  const vm::TypedValue forever[] = {int32_t{-1}, reinterpret_cast<vm::Object*>(fence_object.get())};
                  EXPECT_EQ(invocation.invoke(program.find("wait"), forever, {&result, 1}).code(),
                            StatusCode::kDeadlineExceeded);
                }),
                kTimeoutNs);
      // Work that waits for nobody keeps the queue busy.
      const hal::SemaphorePoint one(semaphore, 1);
      ASSERT_OK(program.device->queue().barrier({{&one, 1}, {}}));
      EXPECT_GE(
          took([&] { EXPECT_EQ(program.device->queue().wait_idle(kTimeoutNs).code(), StatusCode::kDeadlineExceeded); }),
          kTimeoutNs);
      ASSERT_OK(semaphore->signal(1));
      ASSERT_OK(program.device->queue().wait_idle());
    }
  }
}

}  // namespace
}  // namespace baton::modules
