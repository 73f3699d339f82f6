// A C++ app that runs Baton modules and provides one of its own: embed-cpp average.bvm COUNT.
#include <cstdio>
#include <cstdlib>

#include "modules/module_registry.hpp"
#include "sensors.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace {

using namespace baton;

Status run(const char* path, int32_t count) {
  // What this app offers to programs, by name.
  modules::ModuleRegistry registry;
  BATON_TRY(registry.add("sensors", query_sensors));

  // A module, linked with the one it imports from: the provider stands before the importer.
  const modules::Parameter parameters[] = {{"first", "20"}};
  BATON_TRY_ASSIGN(Ref<const vm::Module> sensors, registry.make("sensors", parameters));
  BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> average, vm::BytecodeModule::load_file(path));
  const Ref<const vm::Module> modules[] = {sensors, average};
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));

  // State, and a place to run in. Both can be kept and used again: a warm call allocates nothing.
  BATON_TRY_ASSIGN(Ref<vm::Context> context, vm::Context::make(program));
  BATON_TRY_ASSIGN(const vm::ExportedFunction function, context->find_function("average"));
  vm::Invocation invocation(context);
  const vm::TypedValue argument = count;
  vm::Value result;
  BATON_TRY(invocation.invoke(function, {&argument, 1}, {&result, 1}));
  std::printf("average of %d sensors: %g\n", count, result.f64);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: embed-cpp average.bvm COUNT\n"), 2;
  const Status status = run(argv[1], std::atoi(argv[2]));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
