// lower_stream_kernels: the inner module of a stream.executable in the words of hal.interface.*: bindings and scalars
// are no longer parameters of the entry points, but bindings and words of the dispatch.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// `entry_points` are the names of the exports.
mlir::LogicalResult lower_stream_kernels(mlir::ModuleOp kernels, llvm::ArrayRef<llvm::StringRef> entry_points);

}  // namespace baton::compiler_lite::schedule
