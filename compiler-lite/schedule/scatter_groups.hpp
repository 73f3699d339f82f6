// Scatters (codegen/scatter.hpp) as groups of their own, where all targets of a program have atomic operations.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// Each one becomes a dispatch that updates its result in place. Comes before anything is fused or divided.
void outline_scatters(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
