#include "tools/support/program_source.hpp"

#include "base/text.hpp"
#include "bytecode/signature.hpp"
#include "tools/support/module_source.hpp"

namespace baton::tools {

Result<std::vector<Ref<const vm::Module>>> load_modules(const std::vector<std::string>& sources) {
  if (sources.empty()) return failure(StatusCode::kInvalidArgument, "no module was given; name one with --module=");
  std::vector<Ref<const vm::Module>> modules;
  for (const std::string& source : sources) {
    BATON_TRY_ASSIGN(Ref<const vm::Module> module, load_module(source));
    modules.push_back(std::move(module));
  }
  return modules;
}

std::string list_exports(const vm::Module& module) {
  std::string list;
  for (uint32_t i = 0; i < module.export_count(); ++i) {
    const vm::Module::Export function = module.export_at(i);
    list += text("\n  ", function.name, " is ", bytecode::describe_signature(function.signature));
  }
  return list;
}

}  // namespace baton::tools
