#include "compiler-lite/codegen/divide_tile.hpp"

#include <optional>

#include "compiler-lite/codegen/size_bounds.hpp"
#include "compiler-lite/codegen/tile_and_fuse.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace linalg = mlir::linalg;
namespace scf = mlir::scf;
using mlir::Value;
using Write = mlir::bufferization::MaterializeInDestinationOp;

// Halves are multiples of what units of products compute at once.
constexpr int64_t kLeast = 16;

// What makes a result: loops of pieces that were divided before stand around it.
linalg::LinalgOp maker_of(Value result) {
  while (auto loop = result.getDefiningOp<scf::ForOp>()) {
    result = loop.getYieldedValues()[llvm::cast<mlir::OpResult>(result).getResultNumber()];
    if (auto insert = result.getDefiningOp<mlir::tensor::InsertSliceOp>()) result = insert.getSource();
  }
  return result.getDefiningOp<linalg::LinalgOp>();
}

// The most steps of each loop, as its operands say it.
llvm::SmallVector<std::optional<int64_t>> loop_bounds(linalg::LinalgOp op) {
  llvm::SmallVector<std::optional<int64_t>> bounds(op.getNumLoops());
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!llvm::isa<mlir::RankedTensorType>(operand.get().getType())) continue;
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(i));
      if (!loop || bounds[loop.getPosition()]) continue;
      bounds[loop.getPosition()] = most(operand.get(), i);
    }
  }
  return bounds;
}

bool halve(linalg::LinalgOp root) {
  const llvm::SmallVector<std::optional<int64_t>> bounds = loop_bounds(root);
  const llvm::SmallVector<bool> divisible = divisible_loops(root);
  std::optional<unsigned> longest;
  for (unsigned i = 0; i < bounds.size(); ++i) {
    if (!divisible[i] || !bounds[i] || *bounds[i] <= kLeast) continue;
    if (!longest || *bounds[i] >= *bounds[*longest]) longest = i;
  }
  if (!longest) return false;
  llvm::SmallVector<int64_t> sizes(bounds.size(), 0);
  sizes[*longest] = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(*bounds[*longest] + 1) / 2, kLeast));
  mlir::IRRewriter rewriter(root.getContext());
  mlir::scf::SCFTilingOptions options;
  options.setTileSizes(mlir::getAsIndexOpFoldResult(root.getContext(), sizes));
  rewriter.setInsertionPoint(root);
  mlir::FailureOr<mlir::scf::SCFTilingResult> tiled =
      tile_and_fuse(rewriter, llvm::cast<mlir::TilingInterface>(root.getOperation()), options);
  if (mlir::failed(tiled)) return false;
  rewriter.replaceAllUsesWith(root->getResults(), tiled->replacements);
  return true;
}

}  // namespace

bool divide_tile(mlir::func::FuncOp kernel) {
  llvm::SmallVector<linalg::LinalgOp> roots;
  kernel.walk([&](Write write) {
    linalg::LinalgOp root = maker_of(write.getSource());
    if (root && !llvm::is_contained(roots, root)) roots.push_back(root);
  });
  bool divided = false;
  for (linalg::LinalgOp root : roots) divided = halve(root) || divided;
  return divided;
}

}  // namespace baton::compiler_lite::codegen
