// The module "check": what a program under test expects, of numbers and of tensors. A failed expectation fails the call
// with the first difference; README.md lists the imports.
// Threads: immutable.
#pragma once

#include "vm/module.hpp"

namespace baton::modules {

Result<Ref<const vm::Module>> make_check_module();

}  // namespace baton::modules
