#include "bench/modules/fixture.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "bytecode/assembler.hpp"
#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace baton::bench {
namespace {

int do_nothing(const baton_executable_environment*, const baton_dispatch_state*, const baton_workgroup_state*) {
  return 0;
}

const baton_executable_library* query(uint32_t, const baton_executable_environment*) {
  static const baton_kernel kernels[] = {do_nothing};
  static const char* const names[] = {"nothing"};
  static const baton_kernel_attributes attributes[] = {{1, 2, 1, 1, 1, 0}};
  static const baton_executable_library library = {
      sizeof(library), BATON_EXECUTABLE_LIBRARY_VERSION, "bench", 0, 0, 0, 1, nullptr, kernels, names, attributes};
  return &library;
}

void expect(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::exit(1);
}
template <typename T>
T expect(Result<T> result) {
  if (!result) expect(result.error());
  return std::move(result).value();
}

Ref<const vm::Module> load_hal(std::string_view device) {
  hal::drivers::DriverOptions options;
  options.local.libraries.push_back({"bench", query});
  hal::DriverRegistry registry;
  expect(hal::drivers::register_drivers(registry, std::move(options)));
  return expect(modules::make_hal_module({.devices = {expect(registry.open(device))}}));
}

Ref<const vm::Module> load_program(std::string_view name) {
  const std::string path = text(BATON_BENCH_PROGRAMS, "/", name, ".bvmasm");
  std::ostringstream source;
  source << std::ifstream(path).rdbuf();
  const auto bytes = expect(bytecode::assemble(source.str(), {.file_name = path}));
  return Ref<const vm::Module>(expect(vm::BytecodeModule::load(bytecode::ModuleBytes::copy(bytes))));
}

}  // namespace

struct ProgramFixture::Linked {
  Ref<vm::Context> context;
  std::optional<vm::Invocation> invocation;
  vm::ExportedFunction run;
};

ProgramFixture::ProgramFixture(std::string_view name, std::string_view device) : linked_(std::make_unique<Linked>()) {
  const Ref<const vm::Module> modules[] = {load_hal(device), load_program(name)};
  linked_->context = expect(vm::Context::make(expect(vm::Program::link(modules))));
  linked_->invocation.emplace(linked_->context);
  linked_->run = expect(linked_->context->find_function("run"));
  const auto prepare = linked_->context->find_function("prepare");
  if (prepare) expect(linked_->invocation->invoke(*prepare, {}, {}));
}

ProgramFixture::~ProgramFixture() = default;

void ProgramFixture::run(int32_t count, int32_t answer) {
  const vm::TypedValue argument = count;
  vm::Value result;
  const size_t arguments = linked_->run.shape.argument_values;
  expect(linked_->invocation->invoke(linked_->run, {&argument, arguments}, {&result, 1}));
  if (result.i32 == answer) return;
  std::fprintf(stderr, "The program returned %d, not %d.\n", result.i32, answer);
  std::exit(1);
}

}  // namespace baton::bench
