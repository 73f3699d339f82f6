// Runs a function of a .bvm file with the module "custom" compiled in: custom-module-basic-run MODULE.bvm|- FUNCTION.
#include <cstdio>

#include "../support/read_module.hpp"
#include "modules/native_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

extern "C" baton_status* create_custom_module(const baton_host* host, uint64_t parameter_count,
                                              const baton_parameter* parameters,
                                              const baton_module_descriptor** out_descriptor);

namespace {

using namespace baton;

Status run(const char* path, const char* name) {
  BATON_TRY_ASSIGN(Ref<const vm::Module> custom, modules::NativeModule::make(create_custom_module));
  BATON_TRY_ASSIGN(Ref<const vm::Module> program_module, read_module(path));
  const Ref<const vm::Module> modules[] = {custom, program_module};
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
  BATON_TRY_ASSIGN(Ref<vm::Context> context, vm::Context::make(program));
  BATON_TRY_ASSIGN(const vm::ExportedFunction function, context->find_function(name));

  vm::Invocation invocation(context);
  std::printf("INVOKE BEGIN %s\n", name);
  BATON_TRY(invocation.invoke(function, {}, {}));
  std::printf("INVOKE END\n");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: custom-module-basic-run MODULE.bvm|- FUNCTION\n"), 2;
  const Status status = run(argv[1], argv[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
