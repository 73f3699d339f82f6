#include "compiler-lite/codegen/loops.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace linalg = mlir::linalg;

// How good `loop` would be as the innermost one, for an operand read or written through `map`.
int step_score(mlir::AffineMap map, unsigned loop) {
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    if (!map.getResult(i).isFunctionOfDim(loop)) continue;
    const bool last = i + 1 == map.getNumResults();
    const bool unit = map.getResult(i) == mlir::getAffineDimExpr(loop, map.getContext()) ||
                      map.getResult(i).getKind() == mlir::AffineExprKind::Add;
    return last && unit ? 2 : -2;
  }
  return 0;  // The same element in every step.
}

linalg::GenericOp order_loops(mlir::IRRewriter& rewriter, linalg::GenericOp op) {
  const unsigned count = op.getNumLoops();
  if (count < 2) return op;
  const unsigned innermost = best_innermost(op, llvm::to_vector(llvm::seq(0u, count)));
  if (innermost == count - 1) return op;
  llvm::SmallVector<unsigned> order;
  for (unsigned i = 0; i < count; ++i) {
    if (i != innermost) order.push_back(i);
  }
  order.push_back(innermost);
  rewriter.setInsertionPoint(op);
  mlir::FailureOr<linalg::GenericOp> ordered = linalg::interchangeGenericOp(rewriter, op, order);
  return mlir::succeeded(ordered) ? *ordered : op;
}

// linalg.map hands its body the inputs only; linalg.generic adds the element that is overwritten.
linalg::GenericOp generalize_map(mlir::IRRewriter& rewriter, linalg::MapOp op) {
  rewriter.setInsertionPoint(op);
  auto generic = rewriter.create<linalg::GenericOp>(op.getLoc(), mlir::TypeRange(), op.getInputs(), op.getInit(),
                                                    op.getIndexingMapsArray(), op.getIteratorTypesArray());
  rewriter.inlineRegionBefore(op.getMapper(), generic.getRegion(), generic.getRegion().end());
  mlir::Block& body = generic.getRegion().front();
  body.addArgument(mlir::getElementTypeOrSelf(op.getInit().getType()), op.getLoc());
  rewriter.eraseOp(op);
  return generic;
}

mlir::LogicalResult lower(mlir::IRRewriter& rewriter, linalg::LinalgOp op) {
  mlir::FailureOr<linalg::GenericOp> made = generalize(rewriter, op);
  if (mlir::failed(made)) return mlir::failure();
  linalg::GenericOp generic = order_loops(rewriter, *made);
  allow_reassociation(generic);
  rewriter.setInsertionPoint(generic);
  if (mlir::failed(linalg::linalgOpToLoops(rewriter, generic))) {
    return generic.emitError("'") << generic->getName() << "' has no loops.";
  }
  rewriter.eraseOp(generic);
  return mlir::success();
}

}  // namespace

unsigned best_innermost(linalg::GenericOp op, llvm::ArrayRef<unsigned> loops) {
  unsigned best = loops.back();
  int best_score = INT32_MIN;
  for (const unsigned loop : llvm::reverse(loops)) {
    int score = 0;
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
      score += step_score(map, loop) * (op.isDpsInit(&operand) ? 2 : 1);
    }
    if (score > best_score) {
      best_score = score;
      best = loop;
    }
  }
  return best;
}

void allow_reassociation(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0) return;
  for (const mlir::BlockArgument accumulator : op.getRegionOutputArgs()) {
    for (mlir::Operation* user : accumulator.getUsers()) {
      if (!llvm::isa<mlir::arith::AddFOp, mlir::arith::MulFOp>(user)) continue;
      const auto flags = mlir::arith::FastMathFlags::reassoc | mlir::arith::FastMathFlags::contract;
      user->setAttr("fastmath", mlir::arith::FastMathFlagsAttr::get(op.getContext(), flags));
      for (const mlir::Value operand : user->getOperands()) {
        if (auto product = operand.getDefiningOp<mlir::arith::MulFOp>()) {
          product.setFastmath(mlir::arith::FastMathFlags::contract);
        }
      }
    }
  }
}

mlir::FailureOr<linalg::GenericOp> generalize(mlir::IRRewriter& rewriter, linalg::LinalgOp op) {
  if (auto generic = llvm::dyn_cast<linalg::GenericOp>(op.getOperation())) return generic;
  if (auto map = llvm::dyn_cast<linalg::MapOp>(op.getOperation())) return generalize_map(rewriter, map);
  rewriter.setInsertionPoint(op);
  mlir::FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
  if (mlir::failed(made)) return op.emitError("'") << op->getName() << "' has no loops.";
  return made;
}

void copies_to_linalg(mlir::IRRewriter& rewriter, mlir::ModuleOp kernels) {
  llvm::SmallVector<mlir::memref::CopyOp> copies;
  kernels.walk([&](mlir::memref::CopyOp copy) { copies.push_back(copy); });
  for (mlir::memref::CopyOp copy : copies) {
    rewriter.setInsertionPoint(copy);
    const auto type = llvm::cast<mlir::MemRefType>(copy.getSource().getType());
    const mlir::AffineMap identity =
        mlir::AffineMap::getMultiDimIdentityMap(static_cast<unsigned>(type.getRank()), rewriter.getContext());
    const llvm::SmallVector<mlir::utils::IteratorType> parallel(static_cast<size_t>(type.getRank()),
                                                                mlir::utils::IteratorType::parallel);
    rewriter.create<linalg::GenericOp>(
        copy.getLoc(), mlir::TypeRange(), copy.getSource(), copy.getTarget(),
        llvm::ArrayRef<mlir::AffineMap>{identity, identity}, parallel,
        [](mlir::OpBuilder& builder, mlir::Location location, mlir::ValueRange arguments) {
          builder.create<linalg::YieldOp>(location, arguments[0]);
        });
    rewriter.eraseOp(copy);
  }
}

mlir::LogicalResult lower_to_loops(mlir::ModuleOp kernels) {
  mlir::IRRewriter rewriter(kernels.getContext());
  copies_to_linalg(rewriter, kernels);
  llvm::SmallVector<linalg::LinalgOp> operations;
  kernels.walk([&](linalg::LinalgOp op) { operations.push_back(op); });
  for (linalg::LinalgOp op : operations) {
    if (mlir::failed(lower(rewriter, op))) return mlir::failure();
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::codegen
