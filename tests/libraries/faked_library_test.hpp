// A plugin that records a library's work on a CUDA device, both faked: a device in the mode that the test is for, the plugin, and
// a program whose function "record" gives a recording.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/queue.hpp"
#include "modules/plugin_loader.hpp"
#include "tests/modules/hal_module/device_program.hpp"
#include "tests/support/fake_cuda.hpp"

namespace baton::modules {

// Of the device that was opened last.
inline const hal::drivers::cuda::Symbols* faked_driver = nullptr;

inline int enqueue_on_driver(void* stream, void (*run)(void*), void* data) {
  return static_cast<int>(faked_driver->cuLaunchHostFunc(static_cast<CUstream>(stream), run, data));
}

// A program whose function "record" records calls of one command. Tensors of a call are the slots in order.
class RecordingProgram {
 public:
  static constexpr char kTensor[] = ", i64, hal.buffer, i64, i64";

  // `parameters`: behind the command buffer, each with its comma.
  RecordingProgram(std::string command, const std::string& parameters) : command_(std::move(command)) {
    text_ = R"(
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
import @)" + command_ +
            "(hal.command_buffer" + parameters + R"()
rodata @name = "recording"
export func @record() -> hal.recording {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  rodata %r1, @name
  const.i32 %v0, 16
  const.i32 %v1, 0
  call.import @hal.command_buffer.create, %v0, %r0
)";
  }

  void begin_call() {
    values_ = tensors_ = 0;
    text_ += "  ref.copy %r1, %r0\n";
  }
  void add(int64_t number) {
    const bool wide = number != static_cast<int32_t>(number);
    text_ += std::string("  const.i64") + (wide ? ".wide" : "") + " %v" + std::to_string(values_++) + ", " +
             std::to_string(number) + "\n";
  }
  // `bits`: of its access and its elements, as a slot has them.
  void add_tensor(int64_t bytes, int64_t bits) {
    add(static_cast<int64_t>(tensors_) | bits);
    add(0);
    add(bytes);
    text_ += "  ref.null %r" + std::to_string(2 + tensors_++) + "\n";
  }
  void end_call() { text_ += "  call.import @" + command_ + ", %v0, %r1\n"; }
  // So many numbers stand behind all else.
  void end_call(size_t variadic_count) {
    text_ += "  call.variadic @" + command_ + ", %v0, %r1, [" + std::to_string(variadic_count) + "]\n";
  }
  std::string text() const { return text_ + "  call.import @hal.command_buffer.finish, %v0, %r0\n  return\n}\n"; }

 private:
  const std::string command_;
  std::string text_;
  size_t values_ = 0, tensors_ = 0;
};

// Whether the count comes down to 0: the driver's thread may hold the last work for a moment longer than who waited for it.
inline bool comes_to_nothing(int (*count)()) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (count() != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return count() == 0;
}

// The mode is the parameter: "stream" or "graph".
class FakedLibraryTest : public testing::TestWithParam<const char*> {
 public:
  Result<Ref<hal::Recording>> record(const std::string& text) {
    if (!plugin_) {
      BATON_TRY_ASSIGN(plugin_, load_plugin(plugin_and_library_));
    }
    program_.emplace(std::vector<Ref<const vm::Module>>{hal_module_on({device_}), plugin_}, text);
    BATON_TRY(program_->call("record", {}));
    const auto owned = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(program_->results.at(0).ref));
    return Ref<hal::Recording>(unwrap<hal::Recording>(owned.get()));
  }
  template <typename T = float>
  Ref<hal::Buffer> buffer_of(const std::vector<T>& values) {
    auto buffer = device_->allocator().allocate({.length = (values.empty() ? 1 : values.size()) * sizeof(T)});
    EXPECT_OK(buffer);
    auto mapping = (*buffer)->map(hal::Access::kDiscardWrite);
    if (!values.empty()) std::memcpy(mapping->template as<T>().data(), values.data(), values.size() * sizeof(T));
    return *buffer;
  }
  template <typename T = float>
  std::vector<T> values_of(hal::Buffer& buffer) {
    auto mapping = buffer.map(hal::Access::kRead);
    const auto values = mapping->template as<T>();
    return {values.begin(), values.end()};
  }
  Status execute(hal::Recording& recording, const std::vector<hal::BufferRange>& table) {
    BATON_TRY_ASSIGN(const Ref<hal::Semaphore> done, device_->make_semaphore(0));
    const hal::SemaphorePoint point(done, 1);
    BATON_TRY(device_->queue().execute({.signals = {&point, 1}}, recording, {.buffers = table}));
    return done->wait(1);
  }

 protected:
  explicit FakedLibraryTest(std::string plugin_and_library) : plugin_and_library_(std::move(plugin_and_library)) {}

  void SetUp() override {
    hal::drivers::cuda::Options options;
    options.symbols = testing_support::make_fake_cuda();
    faked_driver = options.symbols.get();
    const hal::DeviceParameter parameters[] = {{"cuda_mode", GetParam()}};
    auto opened = hal::drivers::cuda::make_driver(std::move(options))->open("", parameters);
    ASSERT_OK(opened);
    device_ = std::move(opened).value();
  }

  const std::string plugin_and_library_;
  Ref<hal::Device> device_;
  Ref<const vm::Module> plugin_;
  std::optional<LinkedProgram> program_;
};

}  // namespace baton::modules
