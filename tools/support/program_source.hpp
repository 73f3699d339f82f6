// From --module= and --function= to what a tool runs.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "vm/module.hpp"

namespace baton::tools {

// In the order given; there must be one.
Result<std::vector<Ref<const vm::Module>>> load_modules(const std::vector<std::string>& sources);

// "add is (i32, i32) -> (i32)", a line for each export, indented by two.
std::string list_exports(const vm::Module& module);

}  // namespace baton::tools
