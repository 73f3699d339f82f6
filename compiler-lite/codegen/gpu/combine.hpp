// How threads that reduce together join what each has: through shuffles, then through shared memory; or through that
// alone.
#pragma once

#include "compiler-lite/codegen/gpu/loop_body.hpp"

namespace baton::compiler_lite::codegen::gpu {

// For each result the operation that joins two partial ones; empty when there is one that has none.
llvm::SmallVector<mlir::Operation*> combiners_of(mlir::linalg::GenericOp op);
// The `combiner`'s operation on these two.
mlir::Value combine(mlir::OpBuilder& builder, mlir::Operation* combiner, mlir::Value a, mlir::Value b);
// What changes nothing.
mlir::Value neutral_of(mlir::OpBuilder& builder, mlir::Location location, mlir::Operation* combiner);

// What the lane of the warp `distance` away (by exclusive or) holds.
mlir::Value shuffle(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value, int64_t distance);

// Joins the parts of `group` threads, of which `lane` is this one's number: a warp, or a whole block of whole warps,
// all of which come here. All of them have the result.
// Without warps the group is the block.
void join(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<mlir::Operation*> combiners, Values& parts,
          mlir::Value lane, int64_t group, bool has_warps);

}  // namespace baton::compiler_lite::codegen::gpu
