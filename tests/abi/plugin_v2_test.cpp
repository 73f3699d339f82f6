// Goal: a plugin of version 2 works for ever. Method: the frozen source in plugin_v2/ is built, loaded, and every
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
import @frozen2.scale(hal.command_buffer, i32, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64)
import @frozen2.verbs(hal.command_buffer, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64)
import @frozen2.needs_cuda(hal.command_buffer)
import @frozen2.counts() -> (i32, i32)
import @frozen2.later(hal.buffer_view, hal.fence, hal.fence) -> hal.buffer_view
import @frozen2.ask(hal.buffer_view) -> i64
rodata @name = "frozen"
func @begin() -> hal.command_buffer {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  rodata %r1, @name
  const.i32 %v0, 2
  const.i32 %v1, 0
  call.import @hal.command_buffer.create, %v0, %r0
  return
}
export func @scale() -> hal.recording {
  call @begin, %v0, %r0
  ref.copy %r1, %r0
  const.i32 %v0, 3
  const.i64 %v1, 0
  const.i64 %v2, 0
  const.i64 %v3, 8
  const.i64 %v4, 1
  const.i64 %v5, 0
  const.i64 %v6, 8
  ref.null %r2
  ref.null %r3
  call.import @frozen2.scale, %v0, %r1
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
export func @verbs() -> hal.recording {
  call @begin, %v0, %r0
  ref.copy %r1, %r0
  const.i64 %v0, 0
  const.i64 %v1, 0
  const.i64 %v2, 16
  const.i64 %v3, 1
  const.i64 %v4, 0
  const.i64 %v5, 12
  ref.null %r2
  ref.null %r3
  call.import @frozen2.verbs, %v0, %r1
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
export func @needs_cuda() { call @begin, %v0, %r0
 call.import @frozen2.needs_cuda, %v0, %r0
 return }
export func @counts() -> (i32, i32) { call.import @frozen2.counts, %v0, %r0
 return }
export func @later(hal.buffer_view, hal.fence, hal.fence) -> hal.buffer_view { call.import @frozen2.later, %v0, %r0
 return }
export func @ask(hal.buffer_view) -> i64 { call.import @frozen2.ask, %v0, %r0
 return }
)";

class PluginV2 : public testing::TestWithParam<const char*> {
 protected:
  static Ref<const vm::Module> load() {
    auto module = load_plugin(BATON_TEST_PLUGIN_V2);
    EXPECT_OK(module);
    return module ? *module : Ref<const vm::Module>();
  }
  sdk::Ref<baton_object> result() {
    return sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(program_.results.at(0).ref));
  }
  template <typename T>
  static vm::Value as_value(const sdk::Ref<Handle<T>>& handle) {
    return vm::Value::of(reinterpret_cast<vm::Object*>(static_cast<baton_object*>(handle.get())));
  }

  Ref<hal::Buffer> buffer_of(std::vector<int32_t> values) {
    auto buffer = device_->allocator().allocate({.length = values.size() * 4});
    EXPECT_OK(buffer);
    auto mapping = (*buffer)->map(hal::Access::kWrite);
    std::copy(values.begin(), values.end(), mapping->as<int32_t>().begin());
    return *buffer;
  }
  Ref<hal::BufferView> tensor_of(std::vector<int32_t> values) {
    const auto count = static_cast<int64_t>(values.size());
    auto view = hal::BufferView::make(buffer_of(std::move(values)), {&count, 1}, hal::ElementType::kI32);
    EXPECT_OK(view);
    return *view;
  }
  static std::vector<int32_t> values_of(hal::Buffer& buffer) {
    auto mapping = buffer.map(hal::Access::kRead);
    const auto values = mapping->as<int32_t>();
    return {values.begin(), values.end()};
  }
  Status execute(hal::Recording& recording, std::vector<hal::BufferRange> table) {
    BATON_TRY_ASSIGN(const Ref<hal::Semaphore> done, device_->make_semaphore(0));
    const hal::SemaphorePoint point(done, 1);
    BATON_TRY(device_->queue().execute({.signals = {&point, 1}}, recording, {.buffers = table}));
    return done->wait(1);
  }
  // A fence that is not passed yet, and where it stands.
  Ref<hal::Semaphore> timeline() { return *device_->make_semaphore(0); }

  Ref<hal::Device> device_ = open_device(GetParam());
  LinkedProgram program_{{hal_module_on({device_}), load()}, kProgram};
};
INSTANTIATE_TEST_SUITE_P(Devices, PluginV2, testing::Values("local-sync", "local-task"),
                         [](const auto& device) { return std::string(device.param).replace(5, 1, "_"); });

TEST_P(PluginV2, RecordsWithPreparedKernelsAndHostCode) {
  ASSERT_OK(program_.call("scale"));
  auto recording = result();
  const auto x = buffer_of({1, -2}), y = buffer_of({0, 0});
  for (int i = 0; i < 2; ++i) ASSERT_OK(execute(*unwrap<hal::Recording>(recording.get()), {x, y}));
  EXPECT_EQ(values_of(*y), (std::vector<int32_t>{4, -5}));
  recording = nullptr;
  ASSERT_OK(program_.call("counts"));
  EXPECT_EQ(program_.results[0].i32, 1) << "prepared once";
  EXPECT_EQ(program_.results[1].i32, 1) << "the host function went with the recording";
}

TEST_P(PluginV2, RecordsTheOtherVerbs) {
  ASSERT_OK(program_.call("verbs"));
  const auto recording = result();
  const auto x = buffer_of({0, 0, 0, 0});
  ASSERT_OK(execute(*unwrap<hal::Recording>(recording.get()), {x, buffer_of({1, 1, 1})}));
  EXPECT_EQ(values_of(*x), (std::vector<int32_t>{10, 20, 70, 70}));
}

TEST_P(PluginV2, IsToldWhatTheDeviceDoesNotHave) {
  EXPECT_FAILS(program_.call("needs_cuda"), StatusCode::kUnimplemented, "There is no 'cuda.stream.v1'.");
}

TEST_P(PluginV2, FinishesLater) {
  const auto time = timeline();
  const auto tensor = wrap(tensor_of({1, 2, -3}));
  const auto wait = wrap(hal::Fence::at(*time, 1)), signal = wrap(hal::Fence::at(*time, 2));
  ASSERT_OK(program_.call("later", {as_value(tensor), as_value(wait), as_value(signal)}));
  const auto negative = result();
  EXPECT_FALSE(time->reached(2));
  ASSERT_OK(time->signal(1));
  ASSERT_OK(time->wait(2));
  EXPECT_EQ(values_of(*unwrap<hal::BufferView>(negative.get())->buffer()), (std::vector<int32_t>{-1, -2, 3}));
}

TEST_P(PluginV2, PassesOnWhatItWaitedForInVain) {
  const auto before = timeline(), after = timeline();
  const auto tensor = wrap(tensor_of({1}));
  const auto wait = wrap(hal::Fence::at(*before, 1)), signal = wrap(hal::Fence::at(*after, 1));
  ASSERT_OK(program_.call("later", {as_value(tensor), as_value(wait), as_value(signal)}));
  const auto dropped = result();
  before->fail(failure(StatusCode::kDataLoss, "Nothing came."));
  EXPECT_FAILS(after->wait(1), StatusCode::kDataLoss, "Nothing came.");
}

TEST_P(PluginV2, AsksAboutDevicesAndMemory) {
  const auto tensor = wrap(tensor_of({1, 2}));
  ASSERT_OK(program_.call("ask", {as_value(tensor)}));
  EXPECT_EQ(program_.results[0].i64, 1);
}

}  // namespace
}  // namespace baton::modules
