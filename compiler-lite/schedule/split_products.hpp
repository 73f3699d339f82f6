// A product of few tiles and many steps is divided along its steps: parts side by side, as a batch of products, then their
// sum, together with what follows it. Which ones, `codegen::product_parts` says. Parts of halves are kept in f32.
//
// The order of the sum depends on the shape alone, so a program gives the same bits each time.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// For targets of blocks; when libraries and attention have taken what is theirs, before form_dispatches.
mlir::LogicalResult split_products(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
