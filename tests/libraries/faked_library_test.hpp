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
