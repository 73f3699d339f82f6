// Goal: a deadline, or a cancellation, ends what a call has a local device do, between two workgroups; the status names
// the kernel or the wait; the device serves the next call. Nothing here depends on how fast the machine is: what is ended
// would take hours.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/queue.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

std::atomic<uint64_t> workgroups{0};

int count_workgroup(const baton_executable_environment*, const baton_dispatch_state*, const baton_workgroup_state*) {
  workgroups.fetch_add(1, std::memory_order_relaxed);
  return 0;
}
int take_long(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
              const baton_workgroup_state* workgroup) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return count_workgroup(environment, dispatch, workgroup);
}

const baton_executable_library* slow_kernels(uint32_t, const baton_executable_environment*) {
  static constexpr baton_kernel kKernels[] = {count_workgroup, take_long};
  static constexpr const char* kNames[] = {"count", "take_long"};
  static constexpr baton_kernel_attributes kAttributes[] = {{0, 1, 1, 1, 1, 0}, {0, 1, 1, 1, 1, 0}};
  static const baton_executable_library library = [] {
    baton_executable_library slow = {};
    slow.struct_size = sizeof(slow);
    slow.version = BATON_EXECUTABLE_LIBRARY_VERSION;
    slow.name = "slow";
    slow.kernel_count = std::size(kKernels);
    slow.kernels = kKernels;
    slow.kernel_names = kNames;
    slow.kernel_attributes = kAttributes;
    return slow;
  }();
  return &library;
}

constexpr std::string_view kProgram = R"(
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.fence.create(hal.device) -> hal.fence
import @hal.fence.await(i32, (hal.fence)...) -> i32
import @hal.queue.execute(hal.device, hal.fence, hal.fence, hal.recording, (hal.buffer, i64, i64)..., (i32)...)

; What the fence says in the end.
export func @run(%recording: hal.recording, %buffer: hal.buffer) -> i32 {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r2
  ref.copy %r3, %r2
  call.import @hal.fence.create, %v0, %r3
  ref.move %r4, %r2
  ref.null %r5
  ref.copy %r6, %r3
  ref.move %r7, %r0
  ref.move %r8, %r1
  const.i64 %v0, 0
  const.i64 %v1, -1
  call.variadic @hal.queue.execute, %v0, %r4, [1, 0]
  const.i32 %v0, -1
  call.variadic @hal.fence.await, %v0, %r3, [1]
  return
}
; Nobody signals it.
export func @wait_for_nobody() -> i32 {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  call.import @hal.fence.create, %v0, %r0
  const.i32 %v0, -1
  call.variadic @hal.fence.await, %v0, %r0, [1]
  return
}
)";

struct Way {
  const char* name;
  const char* device;
  std::vector<hal::DeviceParameter> parameters;
};

class DeadlineTest : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    hal::drivers::local::Options options;
    options.libraries.push_back({"slow", slow_kernels});
    device_ =
        hal::drivers::local::make_driver(std::move(options))->open(GetParam().device, GetParam().parameters).value();
    program_ = std::make_unique<LinkedProgram>(std::vector<Ref<const vm::Module>>{hal_module_on({device_})}, kProgram);
    const hal::ExecutableVariant variant{"static-library", bytes_of("slow")};
    kernels_ = device_->make_executable({.name = "slow", .variants = {&variant, 1}}).value();
    buffer_ = device_->allocator().allocate({.length = 32 << 20}).value();
  }

  hal::Binding slot() const { return hal::Slot{0}; }

  // Records with `record`, runs it in a program that has `timeout_ns` (0: somebody cancels), and says how that ends.
  template <typename Record>
  Status run(const Record& record, int64_t timeout_ns) {
    auto commands = device_->make_command_buffer({.name = "work", .slot_count = 1}).value();
    record(*commands);
    const Ref<hal::Recording> recording = commands->finish().value();
    const auto recording_object = wrap(recording);
    const auto buffer_object = wrap(buffer_);
    const vm::TypedValue arguments[] = {reinterpret_cast<vm::Object*>(recording_object.get()),
                                        reinterpret_cast<vm::Object*>(buffer_object.get())};
    return call("run", arguments, timeout_ns);
  }
  Status call(std::string_view name, std::span<const vm::TypedValue> arguments, int64_t timeout_ns) {
    vm::Invocation invocation(program_->context);
    std::thread canceller;
    if (timeout_ns != 0) {
      invocation.set_deadline(monotonic_clock_ns() + timeout_ns);
    } else {
      canceller = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        invocation.cancel();
      });
    }
    vm::Value result;
    Status status = invocation.invoke(program_->find(name), arguments, {&result, 1});
    if (canceller.joinable()) canceller.join();
    // What a program is told of the fence that it waits for it may return before it is stopped itself.
    if (status.ok() && result.i32 != 0) {
      status = failure(static_cast<StatusCode>(result.i32), "while import 'hal.fence.await' waited");
    }
    // What was left behind ends as well.
    EXPECT_THAT(device_->queue().wait_idle(int64_t{10'000'000'000}).code(),
                AnyOf(StatusCode::kOk, StatusCode::kDeadlineExceeded, StatusCode::kCancelled));
    return status;
  }

  void expect_usable() {
    const uint64_t before = workgroups;
    auto commands = device_->make_command_buffer({.name = "afterwards", .slot_count = 1}).value();
    record_dispatch(*commands, 0, 100);
    const Ref<hal::Recording> recording = commands->finish().value();
    const hal::BufferRange table[] = {buffer_};
    ASSERT_OK(device_->queue().execute({}, *recording, {table, {}}));
    ASSERT_OK(device_->queue().wait_idle());
    EXPECT_EQ(workgroups - before, 100u);
  }

  void record_dispatch(hal::CommandBuffer& commands, uint32_t entry_point, uint32_t y) {
    const hal::Binding bindings[] = {slot()};
    ASSERT_OK(commands.dispatch({.executable = kernels_.get(),
                                 .entry_point = entry_point,
                                 .grid = {y == 100 ? 100u : 65535u, y == 100 ? 1u : y, 1},
                                 .bindings = bindings}));
  }

  Ref<hal::Device> device_;
  std::unique_ptr<LinkedProgram> program_;
  Ref<hal::Executable> kernels_;
  Ref<hal::Buffer> buffer_;
};

INSTANTIATE_TEST_SUITE_P(Devices, DeadlineTest,
                         testing::Values(Way{"sync", "sync", {}},
                                         Way{"task", "task", {{"workers", "3"}, {"inline_us", "0"}}},
                                         Way{"task_by_default", "task", {}},
                                         Way{"task_inline", "task", {{"workers", "2"}, {"inline_us", "1000000"}}}),
                         [](const auto& one) { return one.param.name; });

constexpr int64_t kTimeoutNs = 20'000'000;

// In the device's work, in the wait for it, or, where the machine was busy with others for so long, on the way there.
testing::Matcher<std::string> says_where(const std::string& work) {
  return AnyOf(HasSubstr(work), HasSubstr("while import 'hal.fence.await' waited"), HasSubstr("; deadline has passed"),
               HasSubstr("invocation was cancelled"));
}

TEST_P(DeadlineTest, ADispatchOfManyWorkgroups) {
  for (const int64_t timeout_ns : {kTimeoutNs, int64_t{0}}) {
    for (const uint32_t entry_point : {0u, 1u}) {
      const Status status = run([&](auto& commands) { record_dispatch(commands, entry_point, 65535); }, timeout_ns);
      EXPECT_EQ(status.code(), timeout_ns ? StatusCode::kDeadlineExceeded : StatusCode::kCancelled)
          << status.to_string();
      EXPECT_THAT(status.to_string(), says_where(text("Kernel '", entry_point == 0 ? "count" : "take_long",
                                                      "' of executable 'slow' was stopped before workgroup (")));
    }
  }
  expect_usable();
}

TEST_P(DeadlineTest, ManyDispatches) {
  const Status status = run(
      [&](auto& commands) {
        for (int i = 0; i < 10'000; ++i) {
          record_dispatch(commands, 1, 100);
          ASSERT_OK(commands.barrier({}));
        }
      },
      kTimeoutNs);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
  expect_usable();
}

TEST_P(DeadlineTest, FillsAndCopies) {
  for (const bool fills : {true, false}) {
    const uint64_t half = buffer_->length() / 2;
    const Status status = run(
        [&](auto& commands) {
          for (int i = 0; i < 20'000; ++i) {  // 320 GB
            if (fills) {
              ASSERT_OK(commands.fill_buffer({.target = {hal::Slot{0}, 0, half}, .pattern = 7}));
            } else {
              ASSERT_OK(
                  commands.copy_buffer({.source = {hal::Slot{0}, 0, half}, .target = {hal::Slot{0}, half, half}}));
            }
            ASSERT_OK(commands.barrier({}));
          }
        },
        kTimeoutNs);
    EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
    EXPECT_THAT(status.to_string(),
                says_where(text("A ", fills ? "fill" : "copy", " of 16777216 bytes was stopped at byte ")));
  }
  expect_usable();
}

TEST_P(DeadlineTest, AWaitForAFenceThatNeverComes) {
  for (const int64_t timeout_ns : {kTimeoutNs, int64_t{0}}) {
    const Status status = call("wait_for_nobody", {}, timeout_ns);
    EXPECT_EQ(status.code(), timeout_ns ? StatusCode::kDeadlineExceeded : StatusCode::kCancelled);
    EXPECT_THAT(status.to_string(), says_where("while import 'hal.fence.await' waited"));
  }
}

TEST_P(DeadlineTest, AmpleTimeChangesNothing) {
  const uint64_t before = workgroups;
  const Status status = run([&](auto& commands) { record_dispatch(commands, 0, 100); }, int64_t{3600} * 1'000'000'000);
  EXPECT_OK(status);
  EXPECT_EQ(workgroups - before, 100u);
}

}  // namespace
}  // namespace baton::modules
