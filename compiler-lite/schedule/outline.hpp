// Dispatches that stand in place, as dispatches of executables: flow.dispatch.region and hal.dispatch.extern.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// The body of each region becomes the entry point of a stream.executable: captured tensors are its bindings, captured
// scalars its constants, results further bindings. Every workgroup runs the body; what it doesn't insert into a result
// stays untouched.
mlir::LogicalResult outline_regions(mlir::ModuleOp module);

// The name that the host has an executable under, where that isn't its symbol.
inline constexpr llvm::StringLiteral kRegisteredName = "registered_name";

// Each extern dispatch gets a hal.executable @extern_dispatch_<n> of external variants. One without objects is for the
// host to have, registered under the name of its kernel.
mlir::LogicalResult outline_externs(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
