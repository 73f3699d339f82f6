// Points: what each thread of a workgroup does for points of its own, as a loop in a kernel on memrefs.
#pragma once

#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::codegen {

// An attribute of scf.parallel loops of one dimension: each point is one thread's. Behind such a loop threads see what others
// have written.
inline constexpr llvm::StringLiteral kPoints = "baton.points";

// `body` for each number below `count`, at `builder`.
void for_points(mlir::OpBuilder& builder, mlir::Location location, mlir::Value count,
                llvm::function_ref<void(mlir::OpBuilder&, mlir::Value)> body);

// The digits of `number`, the last one the fastest.
llvm::SmallVector<mlir::Value> split(mlir::OpBuilder& builder, mlir::Location location, mlir::Value number,
                                     mlir::ValueRange sizes);

}  // namespace baton::compiler_lite::codegen
