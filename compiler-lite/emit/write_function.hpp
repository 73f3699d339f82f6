// Virtual registers with places → words: moves where values aren't where they are wanted, branches, debug locations.
#pragma once

#include <string>

#include "base/result.hpp"
#include "bytecode/module_builder.hpp"
#include "compiler-lite/emit/machine.hpp"

namespace baton::compiler_lite::emit {

// Allocates the registers of `function`, writes it and defines it as `index` of `builder`. `files` are the names that
// locations mean.
Status write_function(Function& function, uint32_t index, const std::vector<std::string>& files,
                      bytecode::ModuleBuilder& builder);

}  // namespace baton::compiler_lite::emit
