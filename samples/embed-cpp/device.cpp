// A C++ app that runs a compiled program on a device, with the app's own module: calibrate.bvm [--device=local-sync].
#include <cstdio>
#include <cstring>
#include <string_view>

#include "hal/drivers/register_drivers.hpp"
#include "hal/host_copy.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/module_registry.hpp"
#include "sensors.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace {

using namespace baton;

// Tensors cross as references to buffer views.
vm::Value as_value(baton_object* object) { return vm::Value::of(reinterpret_cast<vm::Object*>(object)); }

Result<Ref<vm::Context>> make_context(const char* path, const Ref<hal::Device>& device) {
  modules::ModuleRegistry registry;
  BATON_TRY(registry.add("sensors", query_sensors));
  const modules::Parameter parameters[] = {{"first", "20"}};

  // What is imported from stands before who imports: devices, the app's module, the program.
  BATON_TRY_ASSIGN(Ref<const vm::Module> hal, modules::make_hal_module({.devices = {device}}));
  BATON_TRY_ASSIGN(Ref<const vm::Module> sensors, registry.make("sensors", parameters));
  BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> program, vm::BytecodeModule::load_file(path));
  const Ref<const vm::Module> modules[] = {hal, sensors, program};
  BATON_TRY_ASSIGN(Ref<vm::Program> linked, vm::Program::link(modules));
  return vm::Context::make(linked);
}

Status run(const char* path, std::string_view uri) {
  hal::DriverRegistry drivers;
  BATON_TRY(hal::drivers::register_drivers(drivers));
  BATON_TRY_ASSIGN(const Ref<hal::Device> device, drivers.open(uri));
  BATON_TRY_ASSIGN(const Ref<vm::Context> context, make_context(path, device));
  BATON_TRY_ASSIGN(const vm::ExportedFunction calibrate, context->find_function("calibrate"));
  vm::Invocation invocation(context);

  float numbers[] = {22, 23.5F, 24, 26};
  const int64_t shape[] = {4};
  BATON_TRY_ASSIGN(Ref<hal::BufferView> signal,
                   hal::upload_view(*device, hal::ElementType::kF32, shape, std::as_bytes(std::span(numbers))));
  const auto argument = modules::wrap(std::move(signal));
  const vm::Value arguments[] = {as_value(argument.get()), vm::Value::of(int32_t{2})};
  vm::Value results[1];
  BATON_TRY(invocation.invoke(calibrate, arguments, results));

  const auto result = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(results[0].ref));
  const auto* calibrated = modules::unwrap<hal::BufferView>(result.get());
  BATON_TRY(hal::copy_to_host(*device, calibrated->buffer(), std::as_writable_bytes(std::span(numbers))));
  std::printf("calibrated on %s: %g %g %g %g\n", device->name().c_str(), numbers[0], numbers[1], numbers[2],
              numbers[3]);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: embed-cpp-device calibrate.bvm [--device=local-sync]\n"), 2;
  const bool chosen = argc == 3 && std::strncmp(argv[2], "--device=", 9) == 0;
  const Status status = run(argv[1], chosen ? argv[2] + 9 : "local-sync");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
