// Lets MLIR's inliner work on util functions, which specs ask for after they have put calls into a program.
#pragma once

#include "mlir/IR/Dialect.h"

namespace baton::compiler_lite::specs {

void register_inlining(mlir::DialectRegistry& registry);

}  // namespace baton::compiler_lite::specs
