// Runs main(5xi32) of a module on local-sync, with "custom" compiled in: custom-module-sync-run MODULE.bvm|- FUNCTION.
#include <cstdio>
#include <cstring>

#include "../support/device.hpp"
#include "../support/read_module.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/native_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

extern "C" baton_status* create_custom_module(const baton_host* host, uint64_t parameter_count,
                                              const baton_parameter* parameters,
                                              const baton_module_descriptor** out_descriptor);

namespace {

using namespace baton;

vm::TypedValue as_value(baton_object* object) { return reinterpret_cast<vm::Object*>(object); }

Status run(const char* path, const char* name, std::string_view device_uri) {
  // The module that works on devices, ours, and the program, in the order of their imports.
  BATON_TRY_ASSIGN(const Ref<hal::Device> device, open_device(device_uri));
  BATON_TRY_ASSIGN(Ref<const vm::Module> hal, make_hal(device));
  BATON_TRY_ASSIGN(Ref<const vm::Module> custom, modules::NativeModule::make(create_custom_module));
  BATON_TRY_ASSIGN(Ref<const vm::Module> program_module, read_module(path));
  const Ref<const vm::Module> modules[] = {hal, custom, program_module};
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
  BATON_TRY_ASSIGN(Ref<vm::Context> context, vm::Context::make(program));
  BATON_TRY_ASSIGN(const vm::ExportedFunction function, context->find_function(name));

  // Tensors cross as buffer views.
  BATON_TRY_ASSIGN(Ref<hal::BufferView> input, make_input(*device));
  const auto argument = modules::wrap(std::move(input));
  const vm::TypedValue arguments[] = {as_value(argument.get())};
  vm::Value results[1];
  std::printf("INVOKE BEGIN %s\n", name);
  vm::Invocation invocation(context);
  BATON_TRY(invocation.invoke(function, arguments, results));
  const auto result = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(results[0].ref));
  BATON_TRY(check_output(*modules::unwrap<hal::BufferView>(result.get())));
  std::printf("MATCHED!\nINVOKE END\n");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const bool chosen = argc == 4 && std::strncmp(argv[3], "--device=", 9) == 0;
  if (argc != 3 && !chosen) {
    return std::fprintf(stderr, "usage: custom-module-sync-run MODULE.bvm|- FUNCTION [--device=local-sync]\n"), 2;
  }
  const Status status = run(argv[1], argv[2], chosen ? argv[3] + 9 : "local-sync");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
