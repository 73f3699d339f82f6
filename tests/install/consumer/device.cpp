// A host app with a device: runs `fill` of the module named on its command line on local-task.
#include <cstdio>

#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/host_semaphore.hpp"  // Where it stood before it went to drivers/common.
#include "modules/check_module/check_module.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace {

static_assert(baton::hal::HostSemaphore::kValueMax > 0);

baton::Status run(const char* path) {
  using namespace baton;
  hal::DriverRegistry drivers;
  BATON_TRY(hal::drivers::register_drivers(drivers));
  BATON_TRY_ASSIGN(Ref<hal::Device> device, drivers.open("local-task"));
  BATON_TRY_ASSIGN(Ref<const vm::Module> hal, modules::make_hal_module({.devices = {device}}));
  BATON_TRY_ASSIGN(Ref<const vm::Module> check, modules::make_check_module());
  BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> module, vm::BytecodeModule::load_file(path));
  const Ref<const vm::Module> modules[] = {hal, check, module};
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
  BATON_TRY_ASSIGN(Ref<vm::Context> context, vm::Context::make(program));
  BATON_TRY_ASSIGN(const vm::ExportedFunction fill, context->find_function("fill"));
  vm::Invocation invocation(context);
  vm::Value results[1];
  BATON_TRY(invocation.invoke(fill, {}, results));
  std::printf("filled with %lld\n", static_cast<long long>(results[0].i64));
  return Status();
}

}  // namespace

int main(int argc, char** argv) {
  const baton::Status status = run(argc > 1 ? argv[1] : "fill.bvm");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
