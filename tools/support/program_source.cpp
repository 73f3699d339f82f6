#include "tools/support/program_source.hpp"

#include "base/text.hpp"
#include "bytecode/signature.hpp"
#include "tools/support/module_source.hpp"

namespace baton::tools {

Result<std::vector<Ref<const vm::Module>>> load_modules(const std::vector<std::string>& sources) {
  if (sources.empty()) return failure(StatusCode::kInvalidArgument, "no module was given; name one with --module=");
  std::vector<Ref<const vm::Module>> modules(sources.size());
  for (const bool after : {false, true}) {
    for (size_t i = 0; i < sources.size(); ++i) {
      if (comes_after_importers(sources[i]) != after) continue;
      BATON_TRY_ASSIGN(modules[i], load_module(sources[i], modules));
    }
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
