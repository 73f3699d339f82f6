// Reading a spec: a file of its own, in the context of the program.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace baton::compiler_lite::specs {

// Null after an error, which `program` locates when the file cannot be read, and the file otherwise.
mlir::OwningOpRef<mlir::ModuleOp> read_spec(mlir::ModuleOp program, llvm::StringRef what, llvm::StringRef path);

}  // namespace baton::compiler_lite::specs
