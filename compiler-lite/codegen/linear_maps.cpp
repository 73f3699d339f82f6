#include "compiler-lite/codegen/linear_maps.hpp"

namespace baton::compiler_lite::codegen {
namespace {

// Adds `factor` times the expression to `steps`; false when it is something else.
bool add_steps(mlir::AffineExpr expression, int64_t factor, Steps& steps) {
  if (const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(expression)) {
    steps[loop.getPosition()] += factor;
    return true;
  }
  if (const auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(expression)) return number.getValue() == 0;
  const auto pair = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
  if (!pair) return false;
  if (pair.getKind() == mlir::AffineExprKind::Add) {
    return add_steps(pair.getLHS(), factor, steps) && add_steps(pair.getRHS(), factor, steps);
  }
  const auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(pair.getRHS());
  if (pair.getKind() != mlir::AffineExprKind::Mul || !number || number.getValue() < 0) return false;
  return add_steps(pair.getLHS(), factor * number.getValue(), steps);
}

}  // namespace

std::optional<Steps> linear_steps(mlir::AffineExpr expression, unsigned loop_count) {
  Steps steps(loop_count, 0);
  return add_steps(expression, 1, steps) ? std::optional(steps) : std::nullopt;
}

std::optional<llvm::SmallVector<Steps>> linear_steps(mlir::AffineMap map) {
  llvm::SmallVector<Steps> all;
  for (const mlir::AffineExpr result : map.getResults()) {
    std::optional<Steps> steps = linear_steps(result, map.getNumDims());
    if (!steps) return std::nullopt;
    all.push_back(std::move(*steps));
  }
  return all;
}

}  // namespace baton::compiler_lite::codegen
