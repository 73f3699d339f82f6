// ModuleRegistry: which modules a program can make by name, without a file: those that are compiled into it. An object
// that the app owns and fills; there is no list that modules enter by themselves.
// Threads: externally synchronized while it is filled, immutable after.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "modules/native_module.hpp"

namespace baton::modules {

class ModuleRegistry {
 public:
  // `query` is what BATON_MODULE_QUERY made, or a C function of that type. A name that is taken is refused.
  Status add(std::string name, baton_module_query query);

  bool contains(std::string_view name) const { return queries_.find(name) != queries_.end(); }
  std::vector<std::string_view> names() const;  // sorted

  // A new module. One that calls itself by another name than it was added under is refused.
  Result<Ref<const vm::Module>> make(std::string_view name, std::span<const Parameter> parameters = {}) const;

 private:
  std::map<std::string, baton_module_query, std::less<>> queries_;
};

}  // namespace baton::modules
