// A reduction of very many elements to few results is split in two: parts side by side, then the parts. Products of matrices are
// divided by another rule (split_products.hpp).
//
// Workgroups share nothing, so a reduction without a parallel loop would be the work of one of them: on an H200 9 GB/s
// of 4140.
#pragma once

#include "compiler-lite/schedule/normalize.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

mlir::LogicalResult split_reductions(mlir::ModuleOp module, Products products);

}  // namespace baton::compiler_lite::schedule
