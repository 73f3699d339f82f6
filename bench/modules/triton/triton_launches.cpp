// What run.py asks of Baton in the process that has PyTorch and Triton: a program with Triton's kernel, called as an app in
// C++ calls it, with tensors that stay on the device. A call has fences: it returns when its commands are given to the device.
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "hal/command_buffer.hpp"
#include "hal/commands/all.hpp"
#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/host_copy.hpp"
#include "hal/queue.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/hal_module/objects.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace baton::bench {
namespace {

// (x, y consumed, wait, signal) -> y + launches * 2 * x, in y's memory.
class Launches {
 public:
  Status open(const char* program, const char* device, const char* function, int64_t count) {
    hal::DriverRegistry drivers;
    BATON_TRY(hal::drivers::register_drivers(drivers));
    BATON_TRY_ASSIGN(device_, drivers.open(device));
    BATON_TRY_ASSIGN(auto hal, modules::make_hal_module({.devices = {device_}}));
    BATON_TRY_ASSIGN(auto code, vm::BytecodeModule::load_file(program));
    const Ref<const vm::Module> all[] = {std::move(hal), std::move(code)};
    BATON_TRY_ASSIGN(auto linked, vm::Program::link(all));
    BATON_TRY_ASSIGN(auto context, vm::Context::make(std::move(linked)));
    BATON_TRY_ASSIGN(function_, context->find_function(function));
    invocation_ = std::make_unique<vm::Invocation>(std::move(context));
    BATON_TRY_ASSIGN(x_, upload(1.0f, count));
    BATON_TRY_ASSIGN(y_, upload(0.0f, count));
    BATON_TRY_ASSIGN(done_, device_->make_semaphore(0));
    return {};
  }

  Status call() {
    const auto wait = modules::wrap(hal::Fence::at(*done_, point_));
    const auto signal = modules::wrap(hal::Fence::at(*done_, point_ + 1));
    const vm::Value arguments[] = {value(x_.get()), value(y_.get()), value(wait.get()), value(signal.get())};
    vm::Value result;
    BATON_TRY(invocation_->invoke_slots(function_, arguments, {&result, 1}));
    ++point_;
    y_ = sdk::Ref<Tensor>::adopt(static_cast<Tensor*>(reinterpret_cast<baton_object*>(result.ref)));
    return {};
  }

  Status wait() { return done_->wait(point_); }

  // The kernel once in a recording of its own, by the device's interface: what a program's call does behind the VM.
  Status record(const char* cubin) {
    std::ifstream file(cubin, std::ios::binary);
    const std::string code((std::istreambuf_iterator<char>(file)), {});
    const hal::ExecutableVariant variant{"cuda-sm_90", std::as_bytes(std::span(code))};
    const hal::EntryPoint expected[] = {
        {.name = "scale_add", .constant_count = 6, .binding_count = 2, .workgroup_size = {kThreads, 1, 1}}};
    BATON_TRY_ASSIGN(executable_,
                     device_->make_executable({.name = "scale_add", .variants = {&variant, 1}, .expected = expected}));
    BATON_TRY_ASSIGN(auto commands, device_->make_command_buffer({.name = "one"}));
    const auto count = static_cast<uint32_t>((**x_).element_count());
    const uint32_t constants[] = {std::bit_cast<uint32_t>(2.0f), count, 0, 0, 0, 0};
    const hal::Binding bindings[] = {hal::Binding((**x_).buffer()), hal::Binding((**y_).buffer())};
    BATON_TRY(commands->dispatch({.executable = executable_.get(),
                                  .entry_point = 0,
                                  .grid = {(count + kBlock - 1) / kBlock, 1, 1},
                                  .constants = constants,
                                  .bindings = bindings}));
    BATON_TRY_ASSIGN(recording_, commands->finish());
    return {};
  }
  Status execute() {
    const hal::SemaphorePoint signal(done_, ++point_);
    return device_->queue().execute({{}, {&signal, 1}}, *recording_);
  }

  Result<float> first_element() {
    float first = 0;
    BATON_TRY(hal::copy_to_host(*device_, hal::BufferRange((**y_).buffer().get(), 0, sizeof(first)),
                                std::as_writable_bytes(std::span(&first, 1))));
    return first;
  }

 private:
  using Tensor = modules::Handle<hal::BufferView>;
  static constexpr uint32_t kThreads = 128, kBlock = 256;  // Of the kernel: threads, and elements of a program.

  static vm::Value value(baton_object* object) { return vm::Value::of(reinterpret_cast<vm::Object*>(object)); }

  Result<sdk::Ref<Tensor>> upload(float each, int64_t count) const {
    const std::vector<float> elements(static_cast<size_t>(count), each);
    const int64_t shape[] = {count};
    BATON_TRY_ASSIGN(auto view,
                     hal::upload_view(*device_, hal::ElementType::kF32, shape, std::as_bytes(std::span(elements))));
    return modules::wrap(std::move(view));
  }

  Ref<hal::Device> device_;
  std::unique_ptr<vm::Invocation> invocation_;
  vm::ExportedFunction function_;
  sdk::Ref<Tensor> x_, y_;
  Ref<hal::Executable> executable_;
  Ref<hal::Recording> recording_;
  Ref<hal::Semaphore> done_;
  uint64_t point_ = 0;
};

bool said(const Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return !status.ok();
}

template <typename Step>
double time_each(int64_t count, const Step& step) {
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i) {
    if (said(step())) return -1;
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
         static_cast<double>(count);
}

}  // namespace
}  // namespace baton::bench

using baton::bench::Launches;

extern "C" {

// Null: what is wrong stands on standard error.
[[gnu::visibility("default")]] Launches* launches_open(const char* program, const char* device, const char* function,
                                                       int64_t count) {
  auto launches = std::make_unique<Launches>();
  if (baton::bench::said(launches->open(program, device, function, count))) return nullptr;
  return launches.release();
}

// Nanoseconds that one call took of this thread, of `count` in a row; less than nothing where one failed.
[[gnu::visibility("default")]] double launches_call(Launches* launches, int64_t count) {
  return baton::bench::time_each(count, [&] { return launches->call(); });
}

// The same for the recording of one launch.
[[gnu::visibility("default")]] int launches_record(Launches* launches, const char* cubin) {
  return baton::bench::said(launches->record(cubin));
}
[[gnu::visibility("default")]] double launches_execute(Launches* launches, int64_t count) {
  return baton::bench::time_each(count, [&] { return launches->execute(); });
}

[[gnu::visibility("default")]] int launches_wait(Launches* launches) { return baton::bench::said(launches->wait()); }

[[gnu::visibility("default")]] float launches_first(Launches* launches) {
  const auto first = launches->first_element();
  if (first) return *first;
  baton::bench::said(first.error());
  return -1;
}

[[gnu::visibility("default")]] void launches_close(Launches* launches) { delete launches; }

}  // extern "C"
