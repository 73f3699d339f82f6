// The smallest useful host: maps a module, links it with one native module, calls `run`, prints what it returns. run.py
// beside it weighs the stripped binary: what an app pays for the VM.
#include <cstdio>

#include "modules/native_module.hpp"
#include "modules/sdk/module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace {

class Host final : public baton::sdk::Module<Host> {
 public:
  int32_t mix(int32_t a, int32_t b) { return a ^ (b + 1); }
};

}  // namespace

BATON_MODULE_QUERY(smallest_host_query, Host, "host", BATON_FUNCTION("mix", &Host::mix));

namespace {

using namespace baton;

Status run(const char* path) {
  BATON_TRY_ASSIGN(Ref<const vm::Module> host, modules::NativeModule::make(smallest_host_query));
  BATON_TRY_ASSIGN(Ref<const vm::Module> module, vm::BytecodeModule::load_file(path));
  const Ref<const vm::Module> modules[] = {host, module};
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
  BATON_TRY_ASSIGN(Ref<vm::Context> context, vm::Context::make(program));
  BATON_TRY_ASSIGN(vm::ExportedFunction function, context->find_function("run"));
  vm::Invocation invocation(context);
  const vm::TypedValue argument = int32_t{1000};
  vm::Value result;
  BATON_TRY(invocation.invoke(function, {&argument, 1}, {&result, 1}));
  std::printf("%d\n", result.i32);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const Status status = run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%.*s\n", static_cast<int>(status.message().size()), status.message().data());
  return status.ok() ? 0 : 1;
}
