#include "modules/module_registry.hpp"

namespace baton::modules {

Status ModuleRegistry::add(std::string name, baton_module_query query) {
  const auto [entry, is_new] = queries_.try_emplace(std::move(name), query);
  if (is_new) return {};
  return failure(StatusCode::kAlreadyExists, "Module '", entry->first, "' is registered already.");
}

std::vector<std::string_view> ModuleRegistry::names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, query] : queries_) names.push_back(name);
  return names;
}

Result<Ref<const vm::Module>> ModuleRegistry::make(std::string_view name, std::span<const Parameter> parameters) const {
  const auto found = queries_.find(name);
  if (found == queries_.end()) {
    const std::string near = nearest_names(name, names());
    return failure(StatusCode::kNotFound, "No module '", name, "' is built in", near.empty() ? "." : "; did you mean ",
                   near, near.empty() ? "" : "?");
  }
  BATON_TRY_ASSIGN(Ref<const vm::Module> module,
                   NativeModule::make(found->second, parameters, text("built-in module '", name, "'")));
  if (module->name() == name) return module;
  return failure(StatusCode::kFailedPrecondition, "The module registered as '", name, "' calls itself '",
                 module->name(), "'.");
}

}  // namespace baton::modules
