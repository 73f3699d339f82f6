// What the step `decompose` writes as loops: scf.forall over tensors, tensor.scatter, the transforms of Winograd's
// convolutions.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::lower {

// scf.for around one iteration, whose slices it inserts one after the other.
mlir::LogicalResult lower_forall(mlir::IRRewriter& rewriter, mlir::scf::ForallOp op);

// Each element of the result looks for the update that hits it; what hits nothing is dropped.
mlir::LogicalResult lower_scatter(mlir::IRRewriter& rewriter, mlir::tensor::ScatterOp op);

// Tiles of any sizes.
void pack_by_element(mlir::IRRewriter& rewriter, mlir::tensor::PackOp op);
void unpack_by_element(mlir::IRRewriter& rewriter, mlir::tensor::UnPackOp op);

// linalg.winograd_* → loops of products with the constants of the algorithm.
mlir::LogicalResult lower_winograd(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::lower
