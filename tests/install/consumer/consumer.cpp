// A host app: loads the module named on its command line and calls its `add`.
#include <cstdio>

#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace {

baton::Status run(const char* path) {
  using namespace baton;
  BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> module, vm::BytecodeModule::load_file(path));
  const Ref<const vm::Module> modules[] = {module};
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
  BATON_TRY_ASSIGN(Ref<vm::Context> context, vm::Context::make(program));
  BATON_TRY_ASSIGN(const vm::ExportedFunction add, context->find_function("add"));

  vm::Invocation invocation(context);
  const vm::TypedValue arguments[] = {int32_t{2}, int32_t{3}};
  vm::Value results[1];
  BATON_TRY(invocation.invoke(add, arguments, results));
  std::printf("2 + 3 = %d\n", results[0].as<int32_t>());
  return Status();
}

}  // namespace

int main(int argc, char** argv) {
  const baton::Status status = run(argc > 1 ? argv[1] : "add.bvm");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
