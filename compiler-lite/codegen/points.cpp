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

llvm::SmallVector<mlir::Value> split(mlir::OpBuilder& builder, mlir::Location location, mlir::Value number,
                                     mlir::ValueRange sizes) {
  llvm::SmallVector<mlir::Value> digits(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    digits[i] = i == 0 ? number : builder.createOrFold<mlir::arith::RemUIOp>(location, number, sizes[i]);
    if (i > 0) number = builder.createOrFold<mlir::arith::DivUIOp>(location, number, sizes[i]);
  }
  return digits;
}

}  // namespace baton::compiler_lite::codegen
