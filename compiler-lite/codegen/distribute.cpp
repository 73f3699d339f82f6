#include "compiler-lite/codegen/distribute.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/tile_and_fuse.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace linalg = mlir::linalg;
namespace scf = mlir::scf;
using mlir::AffineExpr;
using mlir::AffineMap;
using mlir::OpFoldResult;
using mlir::Value;
using Write = mlir::bufferization::MaterializeInDestinationOp;

// The one operation that makes all results, or null.
linalg::LinalgOp find_root(llvm::ArrayRef<Destination> destinations) {
  linalg::LinalgOp root;
  for (Destination destination : destinations) {
    auto op = destination.write.getSource().getDefiningOp<linalg::LinalgOp>();
    if (!op || (root && root != op)) return {};
    root = op;
  }
  return root;
}

// The size of each loop of `root`, from the results that it runs along; null where no result says it.
llvm::SmallVector<AffineExpr> loop_sizes(linalg::LinalgOp root, llvm::ArrayRef<Destination> destinations) {
  llvm::SmallVector<AffineExpr> sizes(root.getNumLoops());
  for (Destination destination : destinations) {
    const AffineMap map = root.getIndexingMapMatchingResult(llvm::cast<mlir::OpResult>(destination.write.getSource()));
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(i));
      if (loop) sizes[loop.getPosition()] = destination.sizes[i];
    }
  }
  return sizes;
}

// The loop over tiles becomes the place of one workgroup in it.
class Placement {
 public:
  Placement(mlir::IRRewriter& rewriter, scf::ForallOp loop, std::optional<TileOrder> order)
      : rewriter_(rewriter), loop_(loop), location_(loop.getLoc()), order_(order) {}

  void run() {
    rewriter_.setInsertionPoint(loop_);
    llvm::SmallVector<Value> replacements = tile_offsets();
    llvm::append_range(replacements, loop_.getOutputs());
    scf::InParallelOp writes = loop_.getTerminator();
    llvm::SmallVector<mlir::tensor::ParallelInsertSliceOp> inserts(
        writes.getRegion().front().getOps<mlir::tensor::ParallelInsertSliceOp>());
    llvm::SmallVector<unsigned> results;
    for (auto insert : inserts)
      results.push_back(loop_.getTiedOpResult(loop_.getTiedOpOperand(llvm::cast<mlir::BlockArgument>(insert.getDest())))
                            .getResultNumber());
    rewriter_.inlineBlockBefore(loop_.getBody(), loop_, replacements);
    for (size_t i = 0; i < inserts.size(); ++i) write_tile(inserts[i], loop_.getResult(results[i]));
    rewriter_.eraseOp(writes);
    rewriter_.eraseOp(loop_);
  }

 private:
  Value apply(AffineExpr expression, llvm::ArrayRef<OpFoldResult> operands) {
    const AffineMap map = AffineMap::get(0, static_cast<unsigned>(operands.size()), expression);
    return mlir::getValueOrCreateConstantIndexOp(
        rewriter_, location_, mlir::affine::makeComposedFoldedAffineApply(rewriter_, location_, map, operands));
  }

  // The workgroup's number, split like a number of several digits: the last loop is the fastest.
  llvm::SmallVector<Value> tile_offsets() {
    const AffineExpr a = rewriter_.getAffineSymbolExpr(0), b = rewriter_.getAffineSymbolExpr(1);
    const llvm::SmallVector<OpFoldResult> ends = loop_.getMixedUpperBound(), steps = loop_.getMixedStep();
    llvm::SmallVector<Value> counts(ends.size()), places(ends.size());
    for (size_t i = 0; i < ends.size(); ++i) counts[i] = apply(a.ceilDiv(b), {ends[i], steps[i]});
    Value rest = make_workgroup_id(rewriter_, location_, 0);
    if (order_) rest = place_in_order(counts, places, rest);
    for (size_t i = ends.size(); i-- > 0;) {
      if (places[i]) continue;
      const bool is_last = llvm::all_of(llvm::ArrayRef(places).take_front(i), [](Value each) { return bool(each); });
      places[i] = is_last ? rest : remainder(rest, counts[i]);
      if (!is_last) rest = quotient(rest, counts[i]);
    }
    llvm::SmallVector<Value> offsets;
    for (size_t i = 0; i < ends.size(); ++i) offsets.push_back(apply(a * b, {places[i], steps[i]}));
    return offsets;
  }

  // Groups of rows follow each other, and in a group its columns, each with its rows. Gives what is left of the number.
  Value place_in_order(llvm::ArrayRef<Value> counts, llvm::SmallVector<Value>& places, Value number) {
    const Value rows = counts[order_->rows], columns = counts[order_->columns];
    const Value group = rewriter_.create<mlir::arith::ConstantIndexOp>(location_, order_->group);
    const Value of_group = rewriter_.createOrFold<mlir::arith::MulIOp>(location_, columns, group);
    const Value all = rewriter_.createOrFold<mlir::arith::MulIOp>(location_, rows, columns);
    const Value place = counts.size() > 2 ? remainder(number, all) : number;
    const Value first = rewriter_.createOrFold<mlir::arith::MulIOp>(location_, quotient(place, of_group), group);
    const Value left = rewriter_.createOrFold<mlir::arith::SubIOp>(location_, rows, first);
    const Value height = rewriter_.createOrFold<mlir::arith::MinUIOp>(location_, left, group);
    const Value in_group = remainder(place, of_group);
    places[order_->rows] = rewriter_.createOrFold<mlir::arith::AddIOp>(location_, first, remainder(in_group, height));
    places[order_->columns] = quotient(in_group, height);
    return counts.size() > 2 ? quotient(number, all) : number;
  }

  Value quotient(Value a, Value b) { return rewriter_.createOrFold<mlir::arith::DivUIOp>(location_, a, b); }
  Value remainder(Value a, Value b) { return rewriter_.createOrFold<mlir::arith::RemUIOp>(location_, a, b); }

  // What a tile inserts into the whole result goes to that place of the result's memory.
  void write_tile(mlir::tensor::ParallelInsertSliceOp insert, Value whole) {
    for (mlir::Operation* user : llvm::make_early_inc_range(whole.getUsers())) {
      auto write = llvm::cast<Write>(user);
      // As early as its operands allow: bufferization lets operations write there only if the place is known before.
      set_insertion_after_operands(insert, write.getDest());
      auto memory = rewriter_.create<mlir::memref::SubViewOp>(location_, write.getDest(), insert.getMixedOffsets(),
                                                              insert.getMixedSizes(), insert.getMixedStrides());
      rewriter_.setInsertionPoint(loop_);
      auto tile = rewriter_.create<Write>(location_, insert.getSource(), memory);
      tile.setRestrict(true);
      tile.setWritable(true);
      rewriter_.eraseOp(write);
    }
  }

  void set_insertion_after_operands(mlir::tensor::ParallelInsertSliceOp insert, Value memory) {
    llvm::SmallVector<Value> needed(insert.getOperands().drop_front(2));
    needed.push_back(memory);
    mlir::Operation* latest = nullptr;
    for (const Value value : needed) {
      mlir::Operation* op = value.getDefiningOp();
      if (op && op->getBlock() == loop_->getBlock() && (!latest || latest->isBeforeInBlock(op))) latest = op;
    }
    latest ? rewriter_.setInsertionPointAfter(latest) : rewriter_.setInsertionPointToStart(loop_->getBlock());
  }

  mlir::IRRewriter& rewriter_;
  scf::ForallOp loop_;
  mlir::Location location_;
  std::optional<TileOrder> order_;  // Of the loop's own dimensions.
};

// The same, where undivided loops don't count; nothing where it is about one.
std::optional<TileOrder> among_divided(std::optional<TileOrder> order, llvm::ArrayRef<int64_t> tiles) {
  if (!order || tiles[order->rows] == 0 || tiles[order->columns] == 0) return std::nullopt;
  const auto place = [&](unsigned loop) {
    return static_cast<unsigned>(llvm::count_if(tiles.take_front(loop), [](int64_t tile) { return tile != 0; }));
  };
  return TileOrder{place(order->rows), place(order->columns), order->group};
}

}  // namespace

AffineMap make_grid(mlir::MLIRContext* context, AffineExpr count, unsigned symbol_count) {
  const AffineExpr one = mlir::getAffineConstantExpr(1, context);
  return AffineMap::get(0, symbol_count, {count, one, one}, context);
}

mlir::FailureOr<AffineMap> distribute(mlir::func::FuncOp kernel, llvm::ArrayRef<Destination> destinations,
                                      unsigned symbol_count, Tiling tiling) {
  mlir::MLIRContext* context = kernel.getContext();
  AffineExpr count = mlir::getAffineConstantExpr(1, context);
  linalg::LinalgOp root = find_root(destinations);
  if (!root) return make_grid(context, count, symbol_count);
  TileSizes chosen = choose_tile_sizes(root, tiling);
  llvm::SmallVector<int64_t>& tiles = chosen.sizes;
  const llvm::SmallVector<AffineExpr> sizes = loop_sizes(root, destinations);
  bool divided = false;
  for (size_t i = 0; i < tiles.size(); ++i) {
    if (!sizes[i]) tiles[i] = 0;
    if (tiles[i] == 0) continue;
    divided = true;
    count = count * sizes[i].ceilDiv(static_cast<uint64_t>(tiles[i]));
  }
  if (!divided) return make_grid(context, count, symbol_count);

  const std::optional<TileOrder> order = among_divided(chosen.order, tiles);
  mlir::IRRewriter rewriter(context);
  scf::SCFTilingOptions options;
  options.setTileSizes(mlir::getAsIndexOpFoldResult(context, tiles));
  options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  rewriter.setInsertionPoint(root);
  mlir::FailureOr<scf::SCFTilingResult> tiled =
      tile_and_fuse(rewriter, llvm::cast<mlir::TilingInterface>(root.getOperation()), options);
  if (mlir::failed(tiled) || tiled->loops.size() != 1) {
    return root.emitError("'") << root->getName() << "' can't be divided into tiles.";
  }
  rewriter.replaceAllUsesWith(root->getResults(), tiled->replacements);
  Placement(rewriter, llvm::cast<scf::ForallOp>(tiled->loops.front().getOperation()), order).run();
  return make_grid(context, count, symbol_count);
}

}  // namespace baton::compiler_lite::codegen
