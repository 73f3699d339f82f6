// Running a PDL spec: a file of pdl.pattern, with two native functions.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::specs {

// Applies the patterns wherever they match, until none does, and removes what is dead then.
mlir::LogicalResult apply_pdl_spec(mlir::ModuleOp program, llvm::StringRef path, bool verbose);

}  // namespace baton::compiler_lite::specs
