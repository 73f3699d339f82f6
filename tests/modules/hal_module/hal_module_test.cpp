// Programs drive devices through the module "hal". What text can say stands in tests/golden/hal; here is the rest.
#include "modules/hal_module/hal_module.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "hal/allocator.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules {
namespace {

constexpr std::string_view kScale = R"(
module @scale
import @hal.devices.get(i64) -> hal.device
import @hal.device.allocate(hal.device, i32, i32, i64) -> hal.buffer
import @hal.buffer.store(hal.buffer, i64, i32, i64)
import @hal.buffer.load(hal.buffer, i64, i32) -> i64
import @hal.executable.create(hal.device, (blob, blob)...) -> hal.executable
import @hal.executable.entry_point(hal.executable, blob) -> i32
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.dispatch(hal.command_buffer, hal.executable, i32, i32, i32, i32, (i32)..., (i64, hal.buffer, i64, i64)...)
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
import @hal.fence.create(hal.device) -> hal.fence
import @hal.fence.await(i32, (hal.fence)...) -> i32
import @hal.queue.execute(hal.device, hal.fence, hal.fence, hal.recording, (hal.buffer, i64, i64)..., (i32)...)
rodata @format = "static-library"
rodata @library = "kernels"
rodata @entry = "scale"
rodata @name = "scale"

; %value * %factor, computed by a kernel.
export func @scale(%value: i64, %factor: i32) -> i64 {
  const.i64 %v10, 0
  call.import @hal.devices.get, %v10, %r0
  ref.copy %r10, %r0
  const.i32 %v10, 3
  const.i32 %v11, 63
  const.i64 %v12, 64
  call.import @hal.device.allocate, %v10, %r10
  ref.move %r1, %r10
  const.i64 %v10, 0
  const.i32 %v11, 4
  move %v12, %value
  ref.copy %r10, %r1
  call.import @hal.buffer.store, %v10, %r10
  ref.copy %r10, %r0
  rodata %r11, @format
  rodata %r12, @library
  call.variadic @hal.executable.create, %v10, %r10, [1]
  ref.move %r2, %r10
  ref.copy %r10, %r2
  rodata %r11, @entry
  call.import @hal.executable.entry_point, %v10, %r10
  move %v2, %v10
  ref.copy %r10, %r0
  rodata %r11, @name
  const.i32 %v10, 1
  const.i32 %v11, 0
  call.import @hal.command_buffer.create, %v10, %r10
  ref.move %r3, %r10
  ref.copy %r10, %r3
  ref.copy %r11, %r2
  ref.null %r12
  move %v10, %v2
  const.i32 %v11, 1
  const.i32 %v12, 1
  const.i32 %v13, 1
  const.i32 %v14, 1            ; constants: one element, the factor
  move %v15, %factor
  const.i64 %v16, 0            ; slot 0, whole
  const.i64 %v17, 0
  const.i64 %v18, -1
  call.variadic @hal.command_buffer.dispatch, %v10, %r10, [2, 1]
  ref.copy %r10, %r3
  call.import @hal.command_buffer.finish, %v10, %r10
  ref.move %r4, %r10
  ref.copy %r10, %r0
  call.import @hal.fence.create, %v10, %r10
  ref.move %r5, %r10
  ref.copy %r10, %r0
  ref.null %r11
  ref.copy %r12, %r5
  ref.copy %r13, %r4
  ref.copy %r14, %r1
  const.i64 %v10, 0
  const.i64 %v11, 64
  call.variadic @hal.queue.execute, %v10, %r10, [1, 0]
  ref.copy %r10, %r5
  const.i32 %v10, -1
  call.variadic @hal.fence.await, %v10, %r10, [1]
  move %v3, %v10
  const.i64 %v10, 0
  const.i32 %v11, 4
  ref.copy %r10, %r1
  call.import @hal.buffer.load, %v10, %r10
  return.value %v10
}
)";

class OnDevice : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, OnDevice, testing::Values("local-sync", "local-task"), [](const auto& one) {
  std::string name = one.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST_P(OnDevice, ComputesThroughARecordingWithASlot) {
  DeviceProgram program(GetParam(), kScale);
  ASSERT_OK(program.call("scale", {vm::Value::of(int64_t{14}), vm::Value::of(int32_t{3})}));
  EXPECT_EQ(program.results[0].i64, 42);
}

TEST_P(OnDevice, EverythingIsGivenBack) {
  const auto device = open_device(GetParam());
  {
    DeviceProgram program(device, kScale);
    for (int64_t round = 0; round < 3; ++round) {
      ASSERT_OK(program.call("scale", {vm::Value::of(round), vm::Value::of(int32_t{2})}));
    }
  }
  EXPECT_EQ(device->allocator().memory_use().live_bytes, 0u);
}

constexpr std::string_view kAwait = R"(
module @waiting
import @hal.devices.count() -> i64
import @hal.devices.get(i64) -> hal.device
import @hal.executable.lookup(hal.device, blob) -> hal.executable
import @hal.executable.entry_point(hal.executable, blob) -> i32
import @hal.fence.await(i32, (hal.fence)...) -> i32
import @hal.queue.barrier(hal.device, hal.fence, hal.fence)
rodata @registered = "host.kernels"
rodata @local_sum = "local_sum"

export func @await(%fence: hal.fence, %timeout: i32) -> i32 {
  call.variadic @hal.fence.await, %v0, %r0, [1]
  return
}
export func @tell(%fence: hal.fence) {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r1
  ref.null %r2
  ref.move %r3, %fence
  call.import @hal.queue.barrier, %v0, %r1
  return
}
export func @devices() -> (i64, i32, i32) {
  call.import @hal.devices.count, %v0, %r0
  move %v3, %v0
  call.import @hal.devices.get, %v3, %r0
  ref.is_null %v1, %r0
  const.i64 %v3, -1
  call.import @hal.devices.get, %v3, %r0
  ref.is_null %v2, %r0
  return
}
export func @lookup() -> i32 {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  rodata %r1, @registered
  call.import @hal.executable.lookup, %v0, %r0
  rodata %r1, @local_sum
  call.import @hal.executable.entry_point, %v0, %r0
  return
}
)";

struct FenceArgument {
  explicit FenceArgument(hal::Device& device) : fence(hal::Fence::at(**device.make_semaphore(0), 1)) {
    object = wrap(fence);
  }
  vm::Value value() const { return vm::Value::of(reinterpret_cast<vm::Object*>(object.get())); }

  Ref<hal::Fence> fence;
  sdk::Ref<Handle<hal::Fence>> object;
};

TEST_P(OnDevice, AWaitSuspendsAndGoesOn) {
  DeviceProgram program(GetParam(), kAwait);
  const FenceArgument argument(*program.device);
  const vm::ExportedFunction await = program.find("await");
  vm::Invocation invocation(program.context);
  const vm::Value arguments[] = {argument.value(), vm::Value::of(int32_t{-1})};
  ASSERT_EQ(*invocation.begin_slots(await, arguments), vm::Invocation::Outcome::kSuspended);
  ASSERT_NE(invocation.waiting_on(), nullptr);
  EXPECT_EQ(invocation.waiting_on()->type->wait(invocation.waiting_on(), 0), -1);
  EXPECT_EQ(*invocation.resume(), vm::Invocation::Outcome::kSuspended);  // Asked too early.
  ASSERT_OK(argument.fence->signal());
  ASSERT_EQ(*invocation.resume(), vm::Invocation::Outcome::kDone);
  vm::Value result;
  ASSERT_OK(invocation.take_results({&result, 1}));
  EXPECT_EQ(result.i32, 0);
}

TEST_P(OnDevice, AnotherThreadEndsTheWait) {
  DeviceProgram program(GetParam(), kAwait);
  const FenceArgument argument(*program.device);
  std::thread signaller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    argument.fence->fail(Status(StatusCode::kUnavailable, "gone"));
  });
  ASSERT_OK(program.call("await", {argument.value(), vm::Value::of(int32_t{-1})}));
  signaller.join();
  EXPECT_EQ(program.results[0].i32, BATON_UNAVAILABLE);
}

// A suspended wait that its host gives up releases what it held.
TEST_P(OnDevice, AWaitCanBeAbandoned) {
  DeviceProgram program(GetParam(), kAwait);
  const FenceArgument argument(*program.device);
  {
    vm::Invocation invocation(program.context);
    const vm::Value arguments[] = {argument.value(), vm::Value::of(int32_t{-1})};
    ASSERT_EQ(*invocation.begin_slots(program.find("await"), arguments), vm::Invocation::Outcome::kSuspended);
    invocation.abandon();
  }
  EXPECT_EQ(argument.object->count, 1u);
}

// After a refusal the device and the program go on.
TEST_P(OnDevice, ARefusalHarmsNobody) {
  DeviceProgram program(GetParam(), kAwait);
  const FenceArgument argument(*program.device);
  ASSERT_OK(program.call("tell", {argument.value()}));
  EXPECT_FAILS(program.call("tell", {argument.value()}), StatusCode::kInvalidArgument,
               "would signal 1, which its semaphore has reached already");
  ASSERT_OK(program.call("await", {argument.value(), vm::Value::of(int32_t{0})}));
  EXPECT_EQ(program.results[0].i32, 0);  // What had passed stays passed.
  const FenceArgument other(*program.device);
  ASSERT_OK(program.call("tell", {other.value()}));
  ASSERT_OK(program.call("await", {other.value(), vm::Value::of(int32_t{-1})}));
  EXPECT_EQ(program.results[0].i32, 0);
}

TEST_P(OnDevice, DevicesEndSomewhere) {
  DeviceProgram program(GetParam(), kAwait);
  ASSERT_OK(program.call("devices"));
  EXPECT_EQ(program.results[0].i64, 1);
  EXPECT_EQ(program.results[1].i32, 1);
  EXPECT_EQ(program.results[2].i32, 1);
}

TEST_P(OnDevice, WhatTheHostRegisteredIsFoundByName) {
  DeviceProgram program(GetParam(), kAwait);
  ASSERT_OK(program.call("lookup"));
  EXPECT_EQ(program.results[0].i32, 3);
}

}  // namespace
}  // namespace baton::modules
