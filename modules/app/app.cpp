#include "modules/app/app.hpp"

#include "modules/device_opening.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "vm/bytecode_module.hpp"

namespace baton::app {

Result<App> App::open(const std::string& path, AppOptions options) {
  BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> program, vm::BytecodeModule::load_file(path));
  return make(std::move(program), std::move(options));
}

Result<App> App::load(std::span<const std::byte> program, AppOptions options) {
  BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> loaded, vm::BytecodeModule::load(bytecode::ModuleBytes::copy(program)));
  return make(std::move(loaded), std::move(options));
}

Result<App> App::make(Ref<vm::BytecodeModule> program, AppOptions options) {
  App app;
  app.timeline_ = options.timeline;
  BATON_TRY_ASSIGN(app.devices_,
                   modules::open_devices(options.devices, {.drivers = std::move(options.drivers),
                                                           .executable_plugins = std::move(options.executable_plugins),
                                                           .executables = std::move(options.executables),
                                                           .timeline = options.timeline}));
  std::vector<Ref<const vm::Module>> modules;
  if (!app.devices_.empty()) {
    BATON_TRY_ASSIGN(Ref<const vm::Module> hal, modules::make_hal_module({.devices = app.devices_}));
    modules.push_back(std::move(hal));
  }
  modules.insert(modules.end(), options.modules.begin(), options.modules.end());
  modules.emplace_back(std::move(program));
  BATON_TRY_ASSIGN(Ref<vm::Program> linked, vm::Program::link(modules));
  std::optional<vm::TimelineTracer> tracer;
  if (options.timeline) tracer.emplace(*options.timeline);
  BATON_TRY_ASSIGN(app.context_,
                   vm::Context::make(std::move(linked), system_allocator(), {.tracer = tracer ? &*tracer : nullptr}));
  return app;
}

}  // namespace baton::app
