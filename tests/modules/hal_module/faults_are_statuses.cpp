// Goal: what goes wrong around a program is a status, or nothing at all: memory that is refused at any place of a call, a
// fork, signals during waits, contexts that come and go on many threads. Method: each of them happens, and the same
// program computes afterwards.
#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "hal/allocator.hpp"
#include "hal/drivers/common/host_allocator.hpp"
#include "hal/queue.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kProgram = R"(
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.device.allocate(hal.device, i32, i32, i64) -> hal.buffer
import @hal.buffer.load(hal.buffer, i64, i32) -> i64
import @hal.queue.fill(hal.device, hal.fence, hal.fence, hal.buffer, i64, i64, i64, i32)
import @hal.fence.create(hal.device) -> hal.fence
import @hal.fence.await(i32, (hal.fence)...) -> i32
global @start : i32 = 5
global @device : hal.device
initializer @init
func @init() {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  global.set.ref %r0, @device
  return
}

; Blobs and lists that grow: the number of elements.
export func @grow() -> i64 {
  const.i64 %v0, 1
  list.alloc %r0, %v0
  const.i32 %v1, 0
  const.i32 %v2, 40
again:
  const.i64 %v0, 100
  blob.alloc %r1, %v0
  list.push.ref %r0, %r1
  next.i32 %v1, %v2, again
  list.size %v0, %r0
  return
}
; 16 MiB filled with sevens on the device, waited for: a word of them.
export func @fill() -> i64 {
  global.get.ref %r0, @device
  ref.copy %r4, %r0
  const.i32 %v0, 3
  const.i32 %v1, 63
  const.i64.wide %v2, 16777216
  call.import @hal.device.allocate, %v0, %r4
  ref.move %r1, %r4
  ref.copy %r4, %r0
  call.import @hal.fence.create, %v0, %r4
  ref.move %r2, %r4
  ref.copy %r4, %r0
  ref.null %r5
  ref.copy %r6, %r2
  ref.copy %r7, %r1
  const.i64 %v0, 0
  const.i64 %v1, -1
  const.i64 %v2, 7
  const.i32 %v3, 4
  call.import @hal.queue.fill, %v0, %r4
  ref.copy %r4, %r2
  const.i32 %v0, -1
  call.variadic @hal.fence.await, %v0, %r4, [1]
  ref.copy %r4, %r1
  const.i64 %v0, 4096
  const.i32 %v1, 4
  call.import @hal.buffer.load, %v0, %r4
  return
}
; Passed when %fence is.
export func @wait(%fence: hal.fence) -> i32 {
  const.i32 %v0, -1
  call.variadic @hal.fence.await, %v0, %r0, [1]
  return
}
)";

// Gives `left` times what is asked for, and nothing afterwards.
struct FailingAllocator {
  std::atomic<int64_t> left{INT64_MAX};
  std::atomic<int64_t> living{0};
  Allocator door{this, allocate, free};

  static void* allocate(void* self, size_t size, size_t alignment, int zeroed) {
    auto& own = *static_cast<FailingAllocator*>(self);
    if (own.left.fetch_sub(1) <= 0) return nullptr;
    ++own.living;
    const Allocator& system = system_allocator();
    return system.allocate_bytes(system.self, size, alignment, zeroed);
  }
  static void free(void* self, void* memory) {
    --static_cast<FailingAllocator*>(self)->living;
    system_allocator().free(memory);
  }
};

TEST(FaultsTest, EveryAllocationOfACallFails) {
  FailingAllocator memory;
  const Ref<hal::Device> device = open_device("local-sync");
  LinkedProgram program({hal_module_on({device})}, kProgram, memory.door);
  vm::Invocation invocation(program.context);
  const vm::ExportedFunction grow = program.find("grow");
  const auto call = [&](int64_t left, vm::Value& result) {
    memory.left = left;
    Status status = invocation.invoke(grow, {}, {&result, 1});
    memory.left = INT64_MAX;
    return status;
  };
  vm::Value result;
  ASSERT_OK(call(INT64_MAX, result));
  const int64_t before = memory.living;
  int64_t failures = 0;
  for (int64_t left = 0;; ++left) {
    const Status status = call(left, result);
    if (status.ok()) break;
    ++failures;
    ASSERT_EQ(status.code(), StatusCode::kResourceExhausted) << status.to_string();
    ASSERT_EQ(memory.living, before) << "what the call had is given back";
  }
  EXPECT_GE(failures, 41) << "one for each blob, and those of the list";
  EXPECT_EQ(result.i64, 40);
}

TEST(FaultsTest, EveryAllocationOfBuffersFails) {
  FailingAllocator memory;
  {
    hal::HostAllocator buffers(memory.door, 1 << 30);
    int failures = 0;
    for (int64_t left = 0;; ++left) {
      memory.left = left;
      std::vector<Ref<hal::Buffer>> made;
      Status failed;
      for (const uint64_t length : {uint64_t{16}, uint64_t{70'000}, uint64_t{200'000}}) {
        const hal::MemoryOwner owner(1);
        auto buffer = buffers.allocate({.length = length});
        if (buffer) {
          made.push_back(*std::move(buffer));
        } else {
          failed = std::move(buffer).error();
        }
      }
      memory.left = INT64_MAX;
      if (failed.ok()) break;
      ++failures;
      ASSERT_EQ(failed.code(), StatusCode::kResourceExhausted);
      EXPECT_THAT(failed.to_string(), HasSubstr("No host memory for a buffer of "));
      ASSERT_LT(failures, 100);
    }
    EXPECT_GE(failures, 1);
    EXPECT_EQ(buffers.memory_use().live_bytes, 0u);
  }
  EXPECT_EQ(memory.living, 0);
}

// In the child the workers of a device are gone; its memory and its programs are there.
TEST(FaultsTest, AForkLeavesBothSidesUsable) {
#ifdef BATON_TEST_EMULATED
  GTEST_SKIP() << "qemu-user ends when the child of a process with threads starts one";
#endif
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends a process that forks with threads";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer ends a process that forks with threads";
#endif
#endif
  for (const char* uri : {"local-sync", "local-task", "local-task?workers=2&inline_us=0"}) {
    DeviceProgram program(uri, kProgram);
    ASSERT_OK(program.call("fill"));
    ASSERT_OK(program.device->queue().wait_idle());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);  // A child that hangs is a child that failed.
      int wrong = 0;
      {
        DeviceProgram own(uri, kProgram);
        wrong |= !own.call("fill").ok() || own.results[0].i64 != 7 ? 1 : 0;
        wrong |= !program.call("fill").ok() || program.results[0].i64 != 7 ? 2 : 0;
        wrong |= !program.call("grow").ok() ? 4 : 0;
      }
      program.context = nullptr;
      program.device = nullptr;
      _exit(wrong);
    }
    int state = 0;
    ASSERT_EQ(waitpid(child, &state, 0), child);
    EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << uri << ": state " << state;
    ASSERT_OK(program.call("fill"));
    EXPECT_EQ(program.results[0].i64, 7);
  }
}

std::atomic<int> signals_heard{0};

TEST(FaultsTest, SignalsDuringAWaitAreNoAnswer) {
  struct sigaction heard = {}, before = {};
  heard.sa_handler = [](int) { ++signals_heard; };  // Without SA_RESTART: system calls come back early.
  ASSERT_EQ(sigaction(SIGUSR1, &heard, &before), 0);
  for (const char* uri : {"local-sync", "local-task?workers=2&inline_us=0"}) {
    DeviceProgram program(uri, kProgram);
    const Ref<hal::Semaphore> semaphore = program.device->make_semaphore(0).value();
    const auto fence = wrap(hal::Fence::at(*semaphore, 1));
    const int heard_before = signals_heard;
    Status status;
    std::vector<vm::Value> results;
    std::atomic<bool> over{false};
    std::thread waiter([&] {
      status = program.call("wait", {vm::Value::of(reinterpret_cast<vm::Object*>(fence.get()))});
      results = program.results;
      over = true;
      while (signals_heard - heard_before < 200) std::this_thread::yield();  // It exists for those who signal it.
    });
    for (int i = 0; i < 100; ++i) {
      pthread_kill(waiter.native_handle(), SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    EXPECT_FALSE(over);
    ASSERT_OK(semaphore->signal(1));
    while (signals_heard - heard_before < 200) pthread_kill(waiter.native_handle(), SIGUSR1);
    waiter.join();
    ASSERT_OK(status);
    EXPECT_EQ(results[0].i32, BATON_OK);
    ASSERT_OK(program.call("fill"));
    EXPECT_EQ(program.results[0].i64, 7);
  }
  ASSERT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST(FaultsTest, TenThousandContextsOfEightThreads) {
  constexpr int kThreads = 8, kContexts = 1250;
  const Ref<hal::Device> device = open_device("local-task?workers=2");
  LinkedProgram first({hal_module_on({device})}, kProgram);
  Ref<vm::Program> program(const_cast<vm::Program*>(&first.context->program()));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kContexts; ++i) {
        auto context = vm::Context::make(program);
        if (!context) {
          ++wrong;
          continue;
        }
        if (i % 50 != 0) continue;  // Most do nothing but come and go.
        vm::Invocation invocation(*context);
        vm::Value result;
        wrong += !invocation.invoke(*(*context)->find_function("grow"), {}, {&result, 1}).ok() || result.i64 != 40;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  ASSERT_OK(first.call("fill"));
}

}  // namespace
}  // namespace baton::modules
