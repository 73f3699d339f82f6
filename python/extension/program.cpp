#include "python/extension/program.hpp"

#include "bytecode/module_bytes.hpp"
#include "modules/check_module/check_module.hpp"
#include "modules/collective_module/collective_module.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/parameters_module/parameters_module.hpp"
#include "modules/plugin_loader.hpp"
#include "python/extension/casts.hpp"
#include "python/extension/function.hpp"
#include "python/extension/interrupts.hpp"
#include "python/extension/no_constructor.hpp"
#include "python/extension/python_module.hpp"
#include "python/extension/trace.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/stack.hpp"
#include "vm/timeline_tracer.hpp"

namespace baton::python {
namespace {

using Modules = std::vector<Ref<const vm::Module>>;

// ---- Sources: ("file", path), ("plugin", "x.so@entry?key=value"), ("bytes", bytes), ("python", recipe)
// ----------------

Ref<const vm::Module> load_file(const std::string& path) {
  auto module = [&] {
    const Unlocked unlocked;
    return vm::BytecodeModule::load_file(path);
  }();
  if (!module) raise(std::move(module).error().with_context(text("while loading ", path)));
  return *std::move(module);
}

Ref<const vm::Module> load_bytes(nb::handle source) {
  const auto bytes = nb::cast<nb::bytes>(source);
  const std::span data(static_cast<const std::byte*>(bytes.data()), bytes.size());
  return take(vm::BytecodeModule::load(bytecode::ModuleBytes::copy(data)));
}

Ref<const vm::Module> load_plugin(const std::string& specification, std::span<const Ref<const vm::Module>> importers) {
  auto module = [&] {
    const Unlocked unlocked;
    return modules::load_plugin(specification, importers);
  }();
  return take(std::move(module));
}

// Brings libraries of TVM-FFI, to which the loader refers weakly.
[[gnu::used]] const modules::OtherLibraries& (*const kOtherLibraries)() = modules::other_libraries;

// Libraries of TVM-FFI and modules of Python functions come last: their signatures may be those that the others import.
Modules load_sources(nb::list sources, std::span<const Ref<OpenDevice>> devices) {
  Modules modules(sources.size());
  for (size_t i = 0; i < modules.size(); ++i) {
    nb::object source = sources[i];
    const std::string kind = nb::cast<std::string>(source[0]);
    if (kind == "file") modules[i] = load_file(nb::cast<std::string>(source[1]));
    if (kind == "plugin" && !modules::is_other_library(nb::cast<std::string>(source[1]))) {
      modules[i] = load_plugin(nb::cast<std::string>(source[1]), {});
    }
    if (kind == "bytes") modules[i] = load_bytes(source[1]);
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    if (modules[i]) continue;
    nb::object source = sources[i];
    modules[i] = nb::cast<std::string>(source[0]) == "plugin"
                     ? load_plugin(nb::cast<std::string>(source[1]), modules)
                     : make_python_module(nb::object(source[1]), modules, devices);
  }
  return modules;
}

bool is_given(const Modules& modules, std::string_view name) {
  for (const auto& module : modules) {
    if (module->name() == name) return true;
  }
  return false;
}

bool is_imported(const Modules& modules, std::string_view name) {
  for (const auto& module : modules) {
    const vm::BytecodeModule* bytecode = module->as_bytecode();
    for (uint32_t i = 0; bytecode && i < bytecode->view().import_count(); ++i) {
      if (bytecode->view().import(i).module_name() == name) return true;
    }
  }
  return false;
}

Modules builtin_modules(const Modules& given, std::span<const Ref<OpenDevice>> devices, nb::list parameters) {
  Modules builtin;
  if (!devices.empty() && !is_given(given, "hal")) {
    modules::HalModuleOptions options;
    for (const Ref<OpenDevice>& open : devices) options.devices.push_back(open->shared());
    builtin.push_back(take(modules::make_hal_module(std::move(options))));
  }
  if (!is_given(given, "check")) builtin.push_back(take(modules::make_check_module()));
  if (!is_given(given, "collective") && is_imported(given, "collective")) {
    auto ranks = [] {
      const Unlocked unlocked;
      return hal::ranks_of_process();
    }();
    builtin.push_back(take(modules::make_collective_module(take(std::move(ranks)))));
  }
  if (!is_given(given, "parameters")) {
    std::vector<modules::ParameterSource> sources;
    for (nb::handle pair : parameters) {
      sources.push_back({nb::cast<std::string>(pair[0]), nb::cast<std::string>(pair[1])});
    }
    builtin.push_back(take(modules::make_parameters_module(sources)));
  }
  return builtin;
}

// Runs the initializers, which are calls like any other.
Result<Ref<vm::Context>> initialize(Ref<vm::Program> program, const Limits& limits,
                                    const std::atomic<bool>* cancelled) {
  Timeline* const timeline = active_timeline();
  const Unlocked unlocked;
  std::optional<vm::TimelineTracer> tracer;
  if (timeline) tracer.emplace(*timeline);
  return vm::Context::make(std::move(program), system_allocator(),
                           {.instructions = limits.instructions,
                            .deadline_ns = limits.timeout_ns ? vm::monotonic_clock_ns() + limits.timeout_ns : 0,
                            .cancelled = cancelled,
                            .tracer = tracer ? &*tracer : nullptr});
}

Ref<vm::Context> make_context(Ref<vm::Program> program, const Limits& limits) {
  auto context = initialize(std::move(program), limits, watch_interrupts());
  if (!context) raise_interrupt(context.error());
  return take(std::move(context));
}

Ref<vm::Program> link(Modules modules) {
  auto program = [&] {
    const Unlocked unlocked;
    auto linked = vm::Program::link(modules);
    modules.clear();
    return linked;
  }();
  return take(std::move(program));
}

Limits limits_of(double timeout, uint64_t instructions) { return {static_cast<int64_t>(timeout * 1e9), instructions}; }

// `callables` is the list that keeps the Python functions of the sources.
Program load(nb::list sources, nb::list devices, nb::list parameters, nb::list callables, double timeout,
             uint64_t instructions) {
  forget_cause();
  forget_handled_interrupt();
  std::vector<Ref<OpenDevice>> open;
  for (nb::handle device : devices) {
    open.push_back(object_of<Device>(device, "a device, or what device() takes,").open);
    check(open.back()->check_usable());
  }
  const Limits limits = limits_of(timeout, instructions);
  Modules modules = load_sources(sources, open);
  Modules all = builtin_modules(modules, open, parameters);
  all.insert(all.end(), modules.begin(), modules.end());
  modules.clear();
  return Program(callables,
                 make_ref<LoadedProgram>(make_context(link(std::move(all)), limits), std::move(open), limits));
}

void join_ranks(uint32_t rank, uint32_t count, std::string store, double timeout) {
  auto joined = [&] {
    const Unlocked unlocked;
    return hal::join_ranks({rank, count, std::move(store), static_cast<int64_t>(timeout * 1e9)});
  }();
  check(joined);
}

// The same modules with a state of its own.
Program fork_program(const Program& program) {
  forget_cause();
  const LoadedProgram& loaded = *program.loaded;
  Ref<vm::Context> context =
      make_context(Ref<vm::Program>(const_cast<vm::Program*>(&loaded.context().program())), loaded.limits());
  const std::span devices = loaded.devices();
  return Program(program.callables, make_ref<LoadedProgram>(
                                        std::move(context),
                                        std::vector<Ref<OpenDevice>>(devices.begin(), devices.end()), loaded.limits()));
}

nb::list export_names(const Program& program) {
  nb::list names;
  const vm::LinkedModule& last = program.loaded->context().program().modules().back();
  for (uint32_t i = 0; i < last.module->export_count(); ++i) {
    names.append(nb::str(std::string(last.module->export_at(i).name).c_str()));
  }
  return names;
}

nb::list device_list(const Program& program) {
  nb::list devices;
  for (const Ref<OpenDevice>& open : program.loaded->devices()) devices.append(nb::cast(Device(open)));
  return devices;
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Program>(self)->callables.ptr());
  return 0;
}

int clear(PyObject* self) noexcept {
  Program& program = *nb::inst_ptr<Program>(self);
  release_program(std::move(program.loaded));
  program.callables.reset();
  return 0;
}

PyType_Slot slots[] = {kNoConstructor,
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

LoadedProgram::LoadedProgram(Ref<vm::Context> context, std::vector<Ref<OpenDevice>> devices, const Limits& limits)
    : devices_(std::move(devices)), context_(std::move(context)), limits_(limits) {}

Status LoadedProgram::check_usable() const {
  for (const Ref<OpenDevice>& open : devices_) BATON_TRY(open->check_usable());
  return {};
}

std::unique_ptr<vm::Invocation> LoadedProgram::take_invocation() {
  if (idle_.empty()) return std::make_unique<vm::Invocation>(context_);
  std::unique_ptr<vm::Invocation> invocation = std::move(idle_.back());
  idle_.pop_back();
  return invocation;
}

void release_program(Ref<LoadedProgram> program) {
  if (!program) return;
  const Unlocked unlocked;
  program = nullptr;
}

void bind_programs(nb::module_& module) {
  nb::class_<Program>(module, "Program", nb::type_slots(slots), nb::is_final())
      .def("find", find_function)
      .def("fork", fork_program)
      .def_prop_ro("exports", export_names)
      .def_prop_ro("name",
                   [](const Program& program) {
                     const vm::LinkedModule& last = program.loaded->context().program().modules().back();
                     return nb::str(std::string(last.module->name()).c_str());
                   })
      .def_prop_ro("devices", device_list);
  module.def("load", load);
  module.def("join_ranks", join_ranks);
}

}  // namespace baton::python
