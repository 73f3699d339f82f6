// Points of a linalg operation's loops: loads, body and stores of one, and the order in which threads take them.
#pragma once

#include "compiler-lite/codegen/points.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen::gpu {

using Values = llvm::SmallVector<mlir::Value>;

// The sizes of all loops.
Values loop_sizes(mlir::OpBuilder& builder, mlir::linalg::GenericOp op);
mlir::Value product(mlir::OpBuilder& builder, mlir::Location location, mlir::ValueRange sizes);

// Where in its operand a point reads or writes.
Values indices(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, mlir::OpOperand& operand, mlir::ValueRange point);
// What the operand holds at a point.
mlir::Value load(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, mlir::OpOperand& operand,
                 mlir::ValueRange point);
// What the body yields there for these operands, one each.
Values compute(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, mlir::ValueRange point, mlir::ValueRange operands);
// The same with its inputs loaded, and `outs` for what the results hold; loaded too where it is empty.
Values compute_loaded(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, mlir::ValueRange point,
                      mlir::ValueRange outs = {});
void store(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, mlir::ValueRange point, mlir::ValueRange results);

}  // namespace baton::compiler_lite::codegen::gpu
