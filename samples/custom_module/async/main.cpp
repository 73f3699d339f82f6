// Runs main(5xi32, wait fence, signal fence) of a module on local-task or another device, with "custom" compiled in:
// custom-module-async-run MODULE.bvm|- FUNCTION [--fail | --device=...]. A timeline T orders what the host, the program
// and the module do.
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

Status run(const char* path, const char* name, std::string_view device_uri,
           std::span<const modules::Parameter> parameters) {
  BATON_TRY_ASSIGN(const Ref<hal::Device> device, open_device(device_uri));
  BATON_TRY_ASSIGN(Ref<const vm::Module> hal, make_hal(device));
  BATON_TRY_ASSIGN(Ref<const vm::Module> custom, modules::NativeModule::make(create_custom_module, parameters));
  BATON_TRY_ASSIGN(Ref<const vm::Module> program_module, read_module(path));
  const Ref<const vm::Module> modules[] = {hal, custom, program_module};
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
  BATON_TRY_ASSIGN(Ref<vm::Context> context, vm::Context::make(program));
  BATON_TRY_ASSIGN(const vm::ExportedFunction function, context->find_function(name));

  // The program may read its argument from T=1 on; its result is there at T=2.
  BATON_TRY_ASSIGN(const Ref<hal::Semaphore> time, device->make_semaphore(0));
  std::printf("INITIALIZE T=0\n");
  BATON_TRY_ASSIGN(Ref<hal::BufferView> input, make_input(*device));
  const auto argument = modules::wrap(std::move(input));
  const auto wait = modules::wrap(hal::Fence::at(*time, 1));
  const auto signal = modules::wrap(hal::Fence::at(*time, 2));
  BATON_TRY(time->signal(1));
  std::printf("SIGNALED T=1\n");

  const vm::TypedValue arguments[] = {as_value(argument.get()), as_value(wait.get()), as_value(signal.get())};
  vm::Value results[1];
  std::printf("VM INVOKE BEGIN %s\n", name);
  vm::Invocation invocation(context);
  BATON_TRY(invocation.invoke(function, arguments, results));
  std::printf("VM INVOKE END\n");

  const auto result = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(results[0].ref));
  BATON_TRY_CONTEXT(time->wait(2), "while waiting for T=2");
  std::printf("REACHED T=2\n");
  BATON_TRY(check_output(*modules::unwrap<hal::BufferView>(result.get())));
  std::printf("MATCHED!\n");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const bool fails = argc == 4 && std::strcmp(argv[3], "--fail") == 0;
  const bool chosen = argc == 4 && std::strncmp(argv[3], "--device=", 9) == 0;
  if (argc != 3 && !fails && !chosen) {
    std::fprintf(stderr, "usage: custom-module-async-run MODULE.bvm|- FUNCTION [--fail | --device=local-task]\n");
    return 2;
  }
  const modules::Parameter fail[] = {{"fail", "1"}};
  const Status status = run(argv[1], argv[2], chosen ? argv[3] + 9 : "local-task", {fail, fails ? 1u : 0u});
  if (!status.ok()) std::printf("%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
