#include "compiler-lite/codegen/tile_and_fuse.hpp"

#include <functional>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace scf = mlir::scf;
using Slice = mlir::tensor::ExtractSliceOp;

// Two numbers are the same that the same maps make of the same numbers: each tile brings its own operations for its place.
bool same(mlir::OpFoldResult one, mlir::OpFoldResult other) {
  if (mlir::isEqualConstantIntOrValue(one, other)) return true;
  const auto a = llvm::dyn_cast_if_present<mlir::Value>(one), b = llvm::dyn_cast_if_present<mlir::Value>(other);
  if (!a || !b) return false;
  mlir::Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || !llvm::isa<mlir::affine::AffineApplyOp, mlir::affine::AffineMinOp>(first)) return false;
  return first->getName() == second->getName() && first->getAttrs() == second->getAttrs() &&
         llvm::equal(first->getOperands(), second->getOperands(),
                     [](mlir::Value x, mlir::Value y) { return same(x, y); });
}

bool same_part(Slice one, Slice other) {
  return one.getSource() == other.getSource() && one.getType() == other.getType() &&
         llvm::equal(one.getMixedOffsets(), other.getMixedOffsets(), same) &&
         llvm::equal(one.getMixedSizes(), other.getMixedSizes(), same) &&
         llvm::equal(one.getMixedStrides(), other.getMixedStrides(), same);
}

class Fusion {
 public:
  Fusion(mlir::RewriterBase& rewriter, mlir::TilingInterface root) : rewriter_(rewriter) {
    llvm::SmallVector<mlir::Operation*> around;
    for (mlir::Operation* op = root; op && !op->hasTrait<mlir::OpTrait::IsIsolatedFromAbove>(); op = op->getParentOp())
      around.push_back(op);
    unsigned number = 0;
    for (mlir::Operation* last : llvm::reverse(around)) {
      for (mlir::Operation& op : llvm::make_range(last->getBlock()->begin(), mlir::Block::iterator(last))) {
        numbers_[&op] = number++;
      }
    }
  }

  void run(scf::SCFTilingResult& tiled) {
    mlir::OpBuilder::InsertionGuard guard(rewriter_);
    add_slices(tiled, tiled.tiledOps.back());
    while (!waiting_.empty()) {
      const llvm::SmallVector<Slice> slices = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      fuse(tiled, slices);
    }
  }

 private:
  // What computes the source, before the loop or in it; else null.
  mlir::Operation* producer_of(const scf::SCFTilingResult& tiled, Slice slice) const {
    mlir::Value source = slice.getSource();
    while (auto argument = llvm::dyn_cast<mlir::BlockArgument>(source)) {
      auto* const loop = llvm::find_if(tiled.loops, [&](mlir::LoopLikeOpInterface one) {
        return one.getOperation() == argument.getOwner()->getParentOp();
      });
      if (loop == tiled.loops.end()) return nullptr;
      auto tied = mlir::LoopLikeOpInterface(*loop);
      mlir::OpOperand* const initial = tied.getTiedLoopInit(argument);
      if (!initial) return nullptr;
      source = initial->get();
    }
    return source.getDefiningOp();
  }

  void add_slices(const scf::SCFTilingResult& tiled, mlir::Operation* op) {
    for (const mlir::Value operand : op->getOperands()) {
      auto slice = operand.getDefiningOp<Slice>();
      const auto found = slice ? numbers_.find(producer_of(tiled, slice)) : numbers_.end();
      if (found != numbers_.end()) waiting_[found->second].push_back(slice);
    }
  }

  // Those that take the same part get it where the first of them stands.
  void fuse(scf::SCFTilingResult& tiled, llvm::ArrayRef<Slice> slices) {
    llvm::SmallVector<Slice> ordered;
    for (const Slice slice : slices) {
      if (!llvm::is_contained(ordered, slice)) ordered.push_back(slice);
    }
    llvm::sort(ordered, [](Slice one, Slice other) { return one->isBeforeInBlock(other); });
    llvm::SmallVector<std::pair<Slice, mlir::Value>> parts;
    for (Slice slice : ordered) {
      const auto* const found = llvm::find_if(parts, [&](const auto& part) { return same_part(part.first, slice); });
      if (found != parts.end()) {
        rewriter_.replaceAllUsesWith(slice.getResult(), found->second);
        continue;
      }
      const auto fused = scf::tileAndFuseProducerOfSlice(rewriter_, slice, tiled.loops);
      if (!fused) continue;
      parts.emplace_back(slice, fused->tiledAndFusedProducer);
      if (mlir::Operation* op = fused->tiledAndFusedProducer.getDefiningOp()) add_slices(tiled, op);
    }
  }

  mlir::RewriterBase& rewriter_;
  llvm::DenseMap<mlir::Operation*, unsigned> numbers_;
  std::map<unsigned, llvm::SmallVector<Slice>, std::greater<>> waiting_;  // By the number of what they are slices of.
};

}  // namespace

mlir::FailureOr<scf::SCFTilingResult> tile_and_fuse(mlir::RewriterBase& rewriter, mlir::TilingInterface root,
                                                    const scf::SCFTilingOptions& options) {
  Fusion fusion(rewriter, root);
  mlir::FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(rewriter, root, options);
  if (mlir::failed(tiled)) return tiled;
  if (!tiled->loops.empty()) fusion.run(*tiled);
  return tiled;
}

}  // namespace baton::compiler_lite::codegen
