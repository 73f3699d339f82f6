// Invocations of one context on several threads, as embed.h promises: each brings sizes of its own, all keep recordings
// in one place, none sees what another brought. What compiled programs do with sizes that change stands here in text,
// so that it runs under ThreadSanitizer, where there is no compiler.
#include "modules/hal_module/kept_recordings.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules {
namespace {

constexpr std::string_view kFill = R"(
module @fill
import @hal.devices.get(i64) -> hal.device
import @hal.device.allocate(hal.device, i32, i32, i64) -> hal.buffer
import @hal.buffer.load(hal.buffer, i64, i32) -> i64
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.fill_buffer(hal.command_buffer, i64, hal.buffer, i64, i64, i64, i32)
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
import @hal.fence.create(hal.device) -> hal.fence
import @hal.fence.await(i32, (hal.fence)...) -> i32
import @hal.queue.execute(hal.device, hal.fence, hal.fence, hal.recording, (hal.buffer, i64, i64)..., (i32)...)
import @hal.kept_recordings.create() -> hal.kept_recordings
import @hal.kept_recordings.find(hal.kept_recordings, (i64)...) -> (i32, hal.recording)
import @hal.kept_recordings.keep(hal.kept_recordings, hal.recording, (i64)...)
rodata @name = "fill"
global @device : hal.device
global @kept : hal.kept_recordings
initializer @load
func @load() {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  global.set.ref %r0, @device
  call.import @hal.kept_recordings.create, %v0, %r0
  global.set.ref %r0, @kept
  return
}

; The last word of %bytes bytes that were filled with %pattern.
export func @fill(%bytes: i64, %pattern: i64) -> i64 {
  global.get.ref %r0, @device
  ref.copy %r10, %r0
  const.i32 %v10, 3
  const.i32 %v11, 63
  move %v12, %bytes
  call.import @hal.device.allocate, %v10, %r10
  ref.move %r1, %r10
  global.get.ref %r10, @kept
  move %v10, %bytes
  move %v11, %pattern
  call.variadic @hal.kept_recordings.find, %v10, %r10, [2]
  ref.move %r2, %r10
  br.if %v10, execute
  ref.copy %r10, %r0
  rodata %r11, @name
  const.i32 %v10, 1
  const.i32 %v11, 0
  call.import @hal.command_buffer.create, %v10, %r10
  ref.move %r3, %r10
  ref.copy %r10, %r3
  ref.null %r11
  const.i64 %v10, 0
  const.i64 %v11, 0
  move %v12, %bytes
  move %v13, %pattern
  const.i32 %v14, 8
  call.import @hal.command_buffer.fill_buffer, %v10, %r10
  ref.copy %r10, %r3
  call.import @hal.command_buffer.finish, %v10, %r10
  ref.move %r2, %r10
  global.get.ref %r10, @kept
  ref.copy %r11, %r2
  move %v10, %bytes
  move %v11, %pattern
  call.variadic @hal.kept_recordings.keep, %v10, %r10, [2]
execute:
  ref.copy %r10, %r0
  call.import @hal.fence.create, %v10, %r10
  ref.move %r4, %r10
  ref.copy %r10, %r0
  ref.null %r11
  ref.copy %r12, %r4
  ref.copy %r13, %r2
  ref.copy %r14, %r1
  const.i64 %v10, 0
  move %v11, %bytes
  call.variadic @hal.queue.execute, %v10, %r10, [1, 0]
  const.i32 %v10, -1
  ref.copy %r10, %r4
  call.variadic @hal.fence.await, %v10, %r10, [1]
  ref.copy %r10, %r1
  const.i64 %v10, 8
  sub.i64 %v10, %bytes, %v10
  const.i32 %v11, 8
  call.import @hal.buffer.load, %v10, %r10
  move %v0, %v10
  return
}
)";

TEST(KeptRecordingsTest, ThreadsOfOneContextKeepEachTheirOwnSizes) {
  for (const char* device : {"local-sync", "local-task?workers=2"}) {
    SCOPED_TRACE(device);
    DeviceProgram program(device, kFill);
    const vm::ExportedFunction fill = program.find("fill");
    constexpr int kThreads = 4, kCalls = 300;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        vm::Invocation invocation(program.context);
        for (int i = 0; i < kCalls; ++i) {
          const int64_t words = 1 + (i * 7 + thread * 3) % 5, pattern = 1000 * (thread + 1) + words;
          const std::array<vm::TypedValue, 2> arguments = {words * 8, pattern};
          vm::Value result;
          const Status status = invocation.invoke(fill, arguments, {&result, 1});
          if (!status.ok() || result.as<int64_t>() != pattern) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

}  // namespace
}  // namespace baton::modules
