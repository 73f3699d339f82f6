// Opens shared libraries that export a module: `path[@entry][?key=value&...]`.
//
// A library that was asked for its module is never closed again: objects of its types carry a destructor that lies in
// it, and the host cannot know when the last of them is gone. A module costs its mapping once, however often it is
// loaded.
// Threads: load_plugin may be called from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modules/native_module.hpp"

namespace baton::modules {

struct PluginReference {
  std::string path;
  std::string entry = BATON_MODULE_QUERY_SYMBOL;
  std::vector<Parameter> parameters;

  // Keys and values may hold any character as %XX. An `@` that no identifier follows belongs to the path.
  static Result<PluginReference> parse(std::string_view text);
};

// `importers`: modules that import from it; libraries of another kind take the types of their functions from there.
// Null ones are skipped.
Result<Ref<const vm::Module>> load_plugin(const PluginReference& reference,
                                          std::span<const Ref<const vm::Module>> importers = {});
Result<Ref<const vm::Module>> load_plugin(std::string_view text, std::span<const Ref<const vm::Module>> importers = {});

// Shared libraries that are no plugins of Baton's, and become modules all the same: those of TVM-FFI (modules/tvm_ffi),
// in programs that link them.
struct OtherLibraries {
  bool (*is_one)(const std::string& path);
  Result<Ref<const vm::Module>> (*load)(const PluginReference& reference,
                                        std::span<const Ref<const vm::Module>> importers);
};
const OtherLibraries& other_libraries();
// Whether load_plugin() had better know the importers: such a library is loaded after them.
bool is_other_library(std::string_view text);

}  // namespace baton::modules
