// Running a transform spec.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::specs {

mlir::LogicalResult apply_transform_spec(mlir::ModuleOp program, llvm::StringRef path, bool verbose);

}  // namespace baton::compiler_lite::specs
