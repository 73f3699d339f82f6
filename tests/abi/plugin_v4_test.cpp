// Goal: a plugin of version 4 works for ever. Method: the frozen source in plugin_v4/ is built, loaded, and every
// export of it called from a program on a device.
#include <gtest/gtest.h>

#include "hal/allocator.hpp"
#include "hal/queue.hpp"
#include "modules/plugin_loader.hpp"
#include "modules/sdk/kernel_library.h"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules {
namespace {

constexpr std::string_view kProgram = R"(
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
import @frozen4.scale_slot(hal.command_buffer, i32, i64, hal.buffer, i64, i64)
import @frozen4.scale_now(hal.buffer, i32)
rodata @name = "frozen"
export func @record() -> hal.recording {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  rodata %r1, @name
  const.i32 %v0, 1
  const.i32 %v1, 0
  call.import @hal.command_buffer.create, %v0, %r0
  ref.copy %r1, %r0
  const.i32 %v0, 3
  const.i64 %v1, 0
  const.i64 %v2, 0
  const.i64 %v3, 8
  ref.null %r2
  call.import @frozen4.scale_slot, %v0, %r1
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
export func @now(%buffer: hal.buffer, %factor: i32) {
  call.import @frozen4.scale_now, %factor, %buffer
  return
}
)";

class PluginV4 : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, PluginV4, testing::Values("local-sync", "local-task"),
                         [](const auto& device) { return std::string(device.param).substr(6); });

TEST_P(PluginV4, BringsKernelsOfItsOwn) {
  ASSERT_NE(baton_kernel_functions(), nullptr);  // The table refers to it weakly: this links it.
  const auto device = open_device(GetParam());
  const auto plugin = load_plugin(BATON_TEST_PLUGIN_V4 "?kernels=" BATON_TEST_KERNELS);
  ASSERT_TRUE(plugin.has_value()) << plugin.error().to_string();
  LinkedProgram program({hal_module_on({device}), *plugin}, kProgram);
  const auto buffer = device->allocator().allocate({.length = 8}).value();
  const auto values = [&] { return *buffer->map(hal::Access::kReadWrite); };
  values().as<int32_t>()[0] = 5;
  values().as<int32_t>()[1] = 7;
  ASSERT_OK(program.call("record"));
  const auto owned = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(program.results.at(0).ref));
  for (int turn = 0; turn < 2; ++turn) {
    const auto done = device->make_semaphore(0).value();
    const hal::SemaphorePoint signal(done, 1);
    const hal::BufferRange table[] = {buffer};
    auto* const recording = unwrap<hal::Recording>(owned.get());
    ASSERT_NE(recording, nullptr);
    ASSERT_OK(device->queue().execute({.signals = {&signal, 1}}, *recording, {.buffers = table}));
    ASSERT_OK(done->wait(1));
  }
  EXPECT_EQ(values().as<int32_t>()[0], 45);
  const auto wrapped = wrap(buffer);
  ASSERT_OK(
      program.call("now", {vm::Value::of(reinterpret_cast<vm::Object*>(static_cast<baton_object*>(wrapped.get()))),
                           vm::Value::of(int32_t{-2})}));
  EXPECT_EQ(values().as<int32_t>()[0], -90);
  EXPECT_EQ(values().as<int32_t>()[1], -126);
}

}  // namespace
}  // namespace baton::modules
