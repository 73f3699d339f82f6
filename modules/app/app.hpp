// Everything that an app includes to run programs: open devices, load, call with types, read tensors.
//
//   BATON_TRY_ASSIGN(App app, App::open("calibrate.bvm", {.devices = {"local-sync"}, .modules = {sensors}}));
//   BATON_TRY_ASSIGN(auto calibrate, app.find<TensorOf<float>(TensorOf<float>, int32_t)>("calibrate"));
//   BATON_TRY_ASSIGN(TensorOf<float> signal, app.tensor<float>({4}, numbers));
//   BATON_TRY_ASSIGN(TensorOf<float> calibrated, calibrate(signal, 2));
//   BATON_TRY_ASSIGN(std::vector<float> values, calibrated.copy<float>());
//
// A module of the app's own, with objects of the app's in it, is made by modules::make_shared_module (shared_module.hpp).
//
// It is nothing but the house's objects put together; whoever wants other lives for them uses them: devices()
// (hal/device.hpp), context() (vm/context.hpp).
// Threads: find() from any thread; see Function for calls.
#pragma once

#if __cplusplus < 202002L
#error "Baton's C++ headers need C++20 (-std=c++20); its C headers (*.h) need C11."
#endif

#include <string>
#include <vector>

#include "base/timeline.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/executable_registry.hpp"
#include "modules/app/function.hpp"
#include "modules/shared_module.hpp"
#include "vm/timeline_tracer.hpp"

namespace baton::app {

struct AppOptions {
  std::vector<std::string> devices = {"local-sync"};  // As --device= takes them; a program sees them in this order.
  // Modules that the program imports from; each stands before those that import from it.
  std::vector<Ref<const vm::Module>> modules = {};
  Timeline* timeline = nullptr;  // Where it tells what happens (base/timeline.hpp); outlives it.
  // What the app gives to the drivers: functions and libraries for kernels of local devices (local.imports, local.libraries),
  // functions in device code (cuda.functions, vulkan.functions).
  hal::drivers::DriverOptions drivers = {};
  std::vector<std::string> executable_plugins = {};  // As --executable_plugin= takes them, for CPUs.
  std::shared_ptr<const hal::ExecutableRegistry> executables = nullptr;  // Kernels that programs ask for by name.
};

class App {
 public:
  // A .bvm file, or bytes of one, which are copied.
  static Result<App> open(const std::string& path, AppOptions options = {});
  static Result<App> load(std::span<const std::byte> program, AppOptions options = {});

  const std::vector<Ref<hal::Device>>& devices() const { return devices_; }
  const Ref<vm::Context>& context() const { return context_; }

  // "function", or "module.function".
  template <typename Signature>
  Result<Function<Signature>> find(std::string_view name) const {
    BATON_TRY_ASSIGN(Function<Signature> found,
                     Function<Signature>::find(context_, name, devices_.empty() ? nullptr : devices_[0]));
    found.trace(timeline_);
    return found;
  }
  // On the first device.
  template <typename T>
  Result<TensorOf<T>> tensor(std::initializer_list<int64_t> shape, std::span<const T> elements) const {
    if (devices_.empty()) return failure(StatusCode::kFailedPrecondition, "The app has no device.");
    return Tensor::from(*devices_[0], shape, elements);
  }

 private:
  static Result<App> make(Ref<vm::BytecodeModule> program, AppOptions options);

  std::vector<Ref<hal::Device>> devices_;
  Ref<vm::Context> context_;
  Timeline* timeline_ = nullptr;
};

}  // namespace baton::app
