// sliced_products: a product of which only equal slices are read, as queries, keys and values are of one product, becomes a product
// with a dimension more:
//
//   slice i of (A B)[row, column]   ->   (A B)[i, row, column of the slice]
//
// Its slices lie in memory each as a whole, so that a custom command takes one where it is, without a copy before it.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

mlir::LogicalResult divide_products(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
