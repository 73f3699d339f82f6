#include "compiler-lite/codegen/points.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen {

void for_points(mlir::OpBuilder& builder, mlir::Location location, mlir::Value count,
                llvm::function_ref<void(mlir::OpBuilder&, mlir::Value)> body) {
  const mlir::Value zero = builder.create<mlir::arith::ConstantIndexOp>(location, 0);
  const mlir::Value one = builder.create<mlir::arith::ConstantIndexOp>(location, 1);
  auto points = builder.create<mlir::scf::ParallelOp>(
      location, mlir::ValueRange(zero), mlir::ValueRange(count), mlir::ValueRange(one),
      [&](mlir::OpBuilder& inside, mlir::Location, mlir::ValueRange number) { body(inside, number[0]); });
  points->setAttr(kPoints, builder.getUnitAttr());
}

}  // namespace baton::compiler_lite::codegen
