// Goal: a plugin of version 3 works for ever. Method: the frozen source in plugin_v3/ is built, loaded, and every
// export of it called from a program on a device.
#include <gtest/gtest.h>

#include "hal/allocator.hpp"
#include "hal/queue.hpp"
#include "modules/plugin_loader.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules {
namespace {

constexpr std::string_view kProgram = R"(
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
import @frozen3.add_to(hal.command_buffer, i32, i64, hal.buffer, i64, i64)
import @frozen3.count() -> i32
rodata @name = "frozen"
export func @add() -> hal.recording {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  rodata %r1, @name
  const.i32 %v0, 1
  const.i32 %v1, 0
  call.import @hal.command_buffer.create, %v0, %r0
  ref.copy %r1, %r0
  const.i32 %v0, 5
  const.i64 %v1, 0
  const.i64 %v2, 0
  const.i64 %v3, 8
  ref.null %r2
  call.import @frozen3.add_to, %v0, %r1
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
export func @count() -> i32 {
  call.import @frozen3.count, %v0, %r0
  return
}
)";

TEST(PluginV3, EnqueuesWhatALibraryBrings) {
  const auto device = open_device("local-sync");
  const auto plugin = load_plugin(BATON_TEST_PLUGIN_V3);
  ASSERT_TRUE(plugin.has_value()) << plugin.error().to_string();
  LinkedProgram program({hal_module_on({device}), *plugin}, kProgram);
  ASSERT_OK(program.call("add"));
  auto owned = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(program.results.at(0).ref));
  auto buffer = device->allocator().allocate({.length = 8});
  ASSERT_OK(buffer);
  const auto values = [&] { return *(*buffer)->map(hal::Access::kReadWrite); };
  std::fill_n(values().as<int32_t>().begin(), 2, 1);
  for (uint64_t point = 1; point <= 2; ++point) {
    const auto done = *device->make_semaphore(0);
    const hal::SemaphorePoint signal(done, 1);
    const hal::BufferRange table[] = {*buffer};
    ASSERT_OK(
        device->queue().execute({.signals = {&signal, 1}}, *unwrap<hal::Recording>(owned.get()), {.buffers = table}));
    ASSERT_OK(done->wait(1));
  }
  EXPECT_EQ(values().as<int32_t>()[1], 11);
  owned = nullptr;
  ASSERT_OK(program.call("count"));
  EXPECT_EQ(program.results[0].i32, 1) << "the function went with the recording";
}

// A newer program tells the element type (f32) and the rank (1) of a tensor with its slot: an old module sees the slot
// as it was.
TEST(PluginV3, IsNotToldOfTypesThatItDoesNotKnow) {
  std::string text(kProgram);
  const std::string_view slot = "const.i64 %v1, 0";
  text.replace(text.find(slot), slot.size(), "const.i64.wide %v1, 0x4108000000000");
  const auto device = open_device("local-sync");
  const auto plugin = load_plugin(BATON_TEST_PLUGIN_V3);
  ASSERT_TRUE(plugin.has_value()) << plugin.error().to_string();
  LinkedProgram program({hal_module_on({device}), *plugin}, text);
  ASSERT_OK(program.call("add"));
  const auto owned = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(program.results.at(0).ref));
  EXPECT_NE(unwrap<hal::Recording>(owned.get()), nullptr);
}

}  // namespace
}  // namespace baton::modules
