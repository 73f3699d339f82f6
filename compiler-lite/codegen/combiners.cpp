#include "compiler-lite/codegen/combiners.hpp"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::codegen {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

llvm::SmallVector<mlir::Operation*> combiners_of(mlir::linalg::GenericOp op) {
  llvm::SmallVector<mlir::Operation*> combiners;
  const mlir::Block& body = op.getRegion().front();
  llvm::SmallVector<mlir::BlockArgument> accumulators(op.getRegionOutputArgs());
  for (unsigned i = 0; i < accumulators.size(); ++i) {
    llvm::SmallVector<mlir::Operation*> chain;
    const bool good = mlir::matchReduction(accumulators, i, chain) && chain.size() == 1 &&
                      chain[0]->getBlock() == &body && arith::getNeutralElement(chain[0]);
    // An accumulator with other users is more than a sum.
    if (!good || !accumulators[i].hasOneUse()) return {};
    combiners.push_back(chain[0]);
  }
  return combiners;
}

Value combine(OpBuilder& builder, mlir::Operation* combiner, Value a, Value b) {
  mlir::Operation* joined = builder.clone(*combiner);
  joined->setOperands({a, b});
  return joined->getResult(0);
}

Value neutral_of(OpBuilder& builder, Location location, mlir::Operation* combiner) {
  return builder.create<arith::ConstantOp>(location, *arith::getNeutralElement(combiner));
}

}  // namespace baton::compiler_lite::codegen
