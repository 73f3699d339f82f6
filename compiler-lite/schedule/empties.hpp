// Empties: tensors with anything in them, of a function of several blocks.
//
// A tensor.empty gets memory where it is used first. Of two blocks that use it none may run before the other, so each gets
// one of its own before the walk over the function.
#pragma once

#include "compiler-lite/dialects/util/dialect.hpp"

namespace baton::compiler_lite::schedule {

// Beyond this call a tensor.empty and its views are used in their own block only.
void split_empties(util::FuncOp function);

}  // namespace baton::compiler_lite::schedule
