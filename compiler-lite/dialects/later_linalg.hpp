// Operations that linalg and math have since MLIR 20, read as what MLIR 19 has: contractions and element by element
// operations with maps of their own are linalg.generic, and questions about floats are comparisons.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace baton::compiler_lite {

void register_later_forms(mlir::DialectRegistry& registry);

}  // namespace baton::compiler_lite
