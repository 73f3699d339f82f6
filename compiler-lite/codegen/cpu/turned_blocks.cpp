#include "compiler-lite/codegen/cpu/turned_blocks.hpp"

#include <algorithm>

#include "compiler-lite/codegen/loops.hpp"
#include "llvm/ADT/bit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
namespace vector = mlir::vector;
using mlir::Value;

// A block is as wide as a line of the cache, and not so large that much is left over at the edges.
constexpr int64_t kLineBytes = 64, kLargestSide = 32;
// What is turned in registers: half of them at the most. Fewer rows pay for no shuffle.
constexpr int64_t kRegisterRows = 16, kSmallestSide = 4;
// Shuffles are cheap inside of so many bytes.
constexpr int64_t kLaneBytes = 16;

int64_t bytes_of(mlir::Type element) { return element.getIntOrFloatBitWidth() / 8; }

// The dimension of `map` that is loop `loop` alone; nothing when there is none, or more than one.
std::optional<unsigned> dimension_of(mlir::AffineMap map, unsigned loop) {
  std::optional<unsigned> found;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    if (!map.getResult(i).isFunctionOfDim(loop)) continue;
    if (found || !llvm::isa<mlir::AffineDimExpr>(map.getResult(i))) return std::nullopt;
    found = i;
  }
  return found;
}

bool has_unit_steps(mlir::MemRefType type) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  return mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset)) && !strides.empty() && strides.back() == 1;
}

bool has_plain_elements(mlir::Type element) {
  return element.isIntOrFloat() && llvm::isPowerOf2_64(element.getIntOrFloatBitWidth()) &&
         element.getIntOrFloatBitWidth() >= 8 && element.getIntOrFloatBitWidth() <= 64;
}

// What of an operation is turned: the loop along whose steps the result lies in memory, the one along which the operands
// in `operands` lie, and how many steps of each are a block and are turned at once.
struct Turned {
  unsigned along = 0, across = 0;
  int64_t side = kLargestSide, at_once = kRegisterRows;
  llvm::SmallVector<mlir::OpOperand*> operands;
};

std::optional<unsigned> last_loop(mlir::AffineMap map) {
  if (map.getNumResults() < 2) return std::nullopt;
  const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResults().back());
  return loop ? std::optional(loop.getPosition()) : std::nullopt;
}

bool is_turned(linalg::GenericOp op, mlir::OpOperand* operand, unsigned along, unsigned across) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(operand);
  const auto type = llvm::dyn_cast<mlir::MemRefType>(operand->get().getType());
  return type && has_plain_elements(type.getElementType()) && has_unit_steps(type) && last_loop(map) == across &&
         dimension_of(map, along) && dimension_of(map, across);
}

void choose_side(linalg::GenericOp op, const BodyOptions& options, Turned& turned) {
  for (mlir::OpOperand* operand : turned.operands) {
    const int64_t bytes = bytes_of(mlir::getElementTypeOrSelf(operand->get().getType()));
    turned.side = std::min(turned.side, kLineBytes / bytes);
    turned.at_once = std::min(turned.at_once, std::max<int64_t>(options.vector_bytes / bytes, kSmallestSide));
  }
  const llvm::SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (const unsigned loop : {turned.along, turned.across}) {
    const int64_t size = ranges[loop];
    // A quarter may be left over.
    while (!mlir::ShapedType::isDynamic(size) && turned.side > 1 && size % turned.side * 4 > size) turned.side /= 2;
  }
  turned.at_once = std::min(turned.at_once, turned.side);
}

std::optional<Turned> find_turned(linalg::GenericOp op, const BodyOptions& options) {
  if (op.getNumParallelLoops() != op.getNumLoops() || op.getNumLoops() < 2 || !op.hasPureBufferSemantics())
    return std::nullopt;
  // Tiles are cut from what is read and written one step after the other.
  for (const mlir::AffineMap map : op.getIndexingMapsArray()) {
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true)) return std::nullopt;
  }
  Turned turned;
  turned.along = best_innermost(op, llvm::to_vector(llvm::seq(0u, op.getNumLoops())));
  for (mlir::OpOperand* input : op.getDpsInputOperands()) {
    const std::optional<unsigned> across = last_loop(op.getMatchingIndexingMap(input));
    if (!across || *across == turned.along || !is_turned(op, input, turned.along, *across)) continue;
    turned.across = *across;
    for (mlir::OpOperand* other : op.getDpsInputOperands()) {
      if (is_turned(op, other, turned.along, *across)) turned.operands.push_back(other);
    }
    break;
  }
  if (turned.operands.empty()) return std::nullopt;
  choose_side(op, options, turned);
  return turned.side >= kSmallestSide ? std::optional(turned) : std::nullopt;
}

// Turns `rows`, as many vectors as each has elements, round: interleaved in halves of lanes, then lanes change places.
class BlockTurner {
 public:
  BlockTurner(mlir::OpBuilder& builder, mlir::Location location, mlir::VectorType type)
      : builder_(builder), location_(location), side_(static_cast<size_t>(type.getNumElements())) {
    lane_ = std::min(side_, static_cast<size_t>(kLaneBytes / bytes_of(type.getElementType())));
  }

  llvm::SmallVector<Value> turn(llvm::ArrayRef<Value> rows) {
    // In each group of as many rows as a lane has elements, every lane is turned.
    llvm::SmallVector<llvm::SmallVector<Value>> groups;
    for (size_t first = 0; first < side_; first += lane_) groups.push_back(turn_lanes(rows.slice(first, lane_)));
    llvm::SmallVector<Value> result(side_);
    for (size_t i = 0; i < lane_; ++i) {
      // The same row of each group: its lanes, turned as elements would be.
      llvm::SmallVector<Value> same;
      for (const auto& group : groups) same.push_back(group[i]);
      exchange_lanes(same);
      for (size_t lane = 0; lane < same.size(); ++lane) result[lane * lane_ + i] = same[lane];
    }
    return result;
  }

 private:
  llvm::SmallVector<Value> turn_lanes(llvm::ArrayRef<Value> rows) {
    llvm::SmallVector<Value> now(rows);
    const size_t half = lane_ / 2;
    for (size_t done = 1; done < lane_; done *= 2) {
      llvm::SmallVector<Value> next;
      for (size_t i = 0; i < half; ++i) {
        next.push_back(interleave(now[i], now[i + half], 0));
        next.push_back(interleave(now[i], now[i + half], half));
      }
      now = next;
    }
    return now;
  }

  // Each lane takes the half of its elements that begins at `first` from both.
  Value interleave(Value a, Value b, size_t first) {
    llvm::SmallVector<int64_t> places;
    for (size_t lane = 0; lane < side_; lane += lane_) {
      for (size_t i = 0; i < lane_ / 2; ++i) {
        places.push_back(static_cast<int64_t>(lane + first + i));
        places.push_back(static_cast<int64_t>(side_ + lane + first + i));
      }
    }
    return shuffle(a, b, places);
  }

  // Transposes in registers: at each distance, squares of lanes and vectors change places.
  void exchange_lanes(llvm::SmallVector<Value>& rows) {
    for (size_t distance = rows.size() / 2; distance > 0; distance /= 2) {
      for (size_t row = 0; row < rows.size(); ++row) {
        if ((row & distance) != 0) continue;
        llvm::SmallVector<int64_t> upper, lower;
        for (size_t place = 0; place < side_; ++place) {
          const bool second = (place / lane_ & distance) != 0;
          const size_t moved = distance * lane_;
          upper.push_back(static_cast<int64_t>(second ? side_ + place - moved : place));
          lower.push_back(static_cast<int64_t>(second ? side_ + place : place + moved));
        }
        const Value a = rows[row], b = rows[row + distance];
        rows[row] = shuffle(a, b, upper);
        rows[row + distance] = shuffle(a, b, lower);
      }
    }
  }

  Value shuffle(Value a, Value b, llvm::ArrayRef<int64_t> places) {
    return builder_.create<vector::ShuffleOp>(location_, a, b, places);
  }

  mlir::OpBuilder& builder_;
  mlir::Location location_;
  size_t side_, lane_;
};

class Rewrite {
 public:
  Rewrite(mlir::IRRewriter& rewriter, linalg::GenericOp op, Turned turned)
      : rewriter_(rewriter), location_(op.getLoc()), turned_(std::move(turned)) {
    for (mlir::OpOperand* operand : turned_.operands) numbers_.push_back(operand->getOperandNumber());
  }

  void run(linalg::GenericOp op) {
    // The two loops are the inner ones, and a line that is read goes to blocks that follow each other.
    llvm::SmallVector<unsigned> order;
    for (unsigned i = 0; i < op.getNumLoops(); ++i) {
      if (i != turned_.along && i != turned_.across) order.push_back(i);
    }
    order.push_back(turned_.along);
    order.push_back(turned_.across);
    // Upstream's tiling can change their order too, but mixes up what linalg.index means then.
    if (mlir::failed(linalg::interchangeGenericOp(rewriter_, op, order))) return;
    turned_.along = op.getNumLoops() - 2;
    turned_.across = op.getNumLoops() - 1;
    llvm::SmallVector<int64_t> sizes(op.getNumLoops(), 1);
    sizes[turned_.along] = sizes[turned_.across] = turned_.side;
    rewriter_.setInsertionPoint(op);
    mlir::FailureOr<linalg::TiledLinalgOp> tiled =
        linalg::tileLinalgOp(rewriter_, op, linalg::LinalgTilingOptions().setTileSizes(sizes));
    if (mlir::failed(tiled)) return;
    rewriter_.eraseOp(op);
    divide(llvm::cast<linalg::GenericOp>(tiled->op.getOperation()));
  }

 private:
  // Whole blocks are turned, others are not.
  void divide(linalg::GenericOp op) {
    rewriter_.setInsertionPoint(op);
    const Value full = is_full(op);
    if (!full) return turn(op);
    auto choice = rewriter_.create<scf::IfOp>(location_, full, /*withElseRegion=*/true);
    rewriter_.setInsertionPointToStart(choice.thenBlock());
    auto whole = llvm::cast<linalg::GenericOp>(rewriter_.clone(*op));
    rewriter_.moveOpBefore(op, choice.elseBlock(), choice.elseBlock()->begin());
    turn(whole);
  }

  // Null: always.
  Value is_full(linalg::GenericOp op) {
    mlir::OpOperand& operand = op->getOpOperand(numbers_[0]);
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    const auto type = llvm::cast<mlir::MemRefType>(operand.get().getType());
    Value full;
    for (const unsigned loop : {turned_.along, turned_.across}) {
      const unsigned dimension = *dimension_of(map, loop);
      if (!type.isDynamicDim(dimension)) continue;
      const Value size =
          rewriter_.createOrFold<memref::DimOp>(location_, operand.get(), static_cast<int64_t>(dimension));
      const Value equal =
          rewriter_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, size, index(turned_.side));
      full = full ? rewriter_.create<arith::AndIOp>(location_, full, equal) : equal;
    }
    return full;
  }

  void turn(linalg::GenericOp op) {
    rewriter_.setInsertionPoint(op);
    llvm::SmallVector<Value> operands;
    llvm::SmallVector<mlir::AffineMap> maps = op.getIndexingMapsArray();
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      if (!llvm::is_contained(numbers_, operand.getOperandNumber())) {
        operands.push_back(with_whole_sizes(operand.get(), op.getMatchingIndexingMap(&operand)));
        continue;
      }
      operands.push_back(turned_block(operand.get(), op.getMatchingIndexingMap(&operand)));
      const llvm::SmallVector<mlir::AffineExpr> places{rewriter_.getAffineDimExpr(turned_.across),
                                                       rewriter_.getAffineDimExpr(turned_.along)};
      maps[operand.getOperandNumber()] = mlir::AffineMap::get(op.getNumLoops(), 0, places, rewriter_.getContext());
    }
    rewriter_.modifyOpInPlace(op, [&] {
      op->setOperands(operands);
      op.setIndexingMapsAttr(rewriter_.getAffineMapArrayAttr(maps));
    });
  }

  Value with_whole_sizes(Value memory, mlir::AffineMap map) {
    const auto type = llvm::dyn_cast<mlir::MemRefType>(memory.getType());
    if (!type) return memory;
    llvm::SmallVector<int64_t> shape(type.getShape());
    for (const unsigned loop : {turned_.along, turned_.across}) {
      if (const std::optional<unsigned> dimension = dimension_of(map, loop)) shape[*dimension] = turned_.side;
    }
    if (llvm::ArrayRef<int64_t>(shape) == type.getShape()) return memory;
    const mlir::MemRefType whole = mlir::MemRefType::Builder(type).setShape(shape);
    return rewriter_.create<memref::CastOp>(location_, whole, memory);
  }

  Value turned_block(Value memory, mlir::AffineMap map) {
    const mlir::Type element = mlir::getElementTypeOrSelf(memory.getType());
    const auto block = mlir::MemRefType::get({turned_.side, turned_.side}, element);
    const Value kept = rewriter_.create<memref::AllocOp>(location_, block, rewriter_.getI64IntegerAttr(kLineBytes));
    const mlir::OpBuilder::InsertionGuard guard(rewriter_);
    const Value zero = index(0), side = index(turned_.side), step = index(turned_.at_once);
    llvm::SmallVector<Value> at(map.getNumResults(), zero);
    // Both halves of a line are read before others take its place.
    Value& row = at[*dimension_of(map, turned_.along)];
    Value& column = at[*dimension_of(map, turned_.across)];
    for (Value* place : {&row, &column}) {
      if (turned_.side == turned_.at_once) continue;
      auto loop = rewriter_.create<scf::ForOp>(location_, zero, side, step);
      rewriter_.setInsertionPointToStart(loop.getBody());
      *place = loop.getInductionVar();
    }
    const Value first_row = row;
    llvm::SmallVector<Value> rows;
    for (int64_t i = 0; i < turned_.at_once; ++i) {
      row = rewriter_.createOrFold<arith::AddIOp>(location_, first_row, index(i));
      rows.push_back(load(element, memory, at));
    }
    const auto type = llvm::cast<mlir::VectorType>(rows[0].getType());
    for (const auto& [i, turned] : llvm::enumerate(BlockTurner(rewriter_, location_, type).turn(rows))) {
      const Value to = rewriter_.createOrFold<arith::AddIOp>(location_, column, index(static_cast<int64_t>(i)));
      store(element, turned, kept, {to, first_row});
    }
    return kept;
  }

  // Halves are moved as bits, which needs no arithmetic on them.
  static bool moves_bits(mlir::Type element) { return llvm::isa<mlir::FloatType>(element) && bytes_of(element) < 4; }

  Value load(mlir::Type element, Value memory, mlir::ValueRange at) {
    const auto type = mlir::VectorType::get({turned_.at_once}, element);
    const Value loaded = rewriter_.create<vector::LoadOp>(location_, type, memory, at);
    if (!moves_bits(element)) return loaded;
    const auto bits = rewriter_.getIntegerType(element.getIntOrFloatBitWidth());
    return rewriter_.create<vector::BitCastOp>(location_, mlir::VectorType::get(type.getShape(), bits), loaded);
  }

  void store(mlir::Type element, Value value, Value memory, mlir::ValueRange at) {
    const auto type = mlir::VectorType::get({turned_.at_once}, element);
    if (moves_bits(element)) value = rewriter_.create<vector::BitCastOp>(location_, type, value);
    rewriter_.create<vector::StoreOp>(location_, value, memory, at);
  }

  Value index(int64_t value) { return rewriter_.create<arith::ConstantIndexOp>(location_, value); }

  mlir::IRRewriter& rewriter_;
  mlir::Location location_;
  Turned turned_;  // By the loops' order of now.
  llvm::SmallVector<unsigned> numbers_;
};

}  // namespace

void turn_blocks(mlir::ModuleOp kernels, const BodyOptions& options) {
  mlir::IRRewriter rewriter(kernels.getContext());
  llvm::SmallVector<linalg::LinalgOp> operations;
  kernels.walk([&](linalg::LinalgOp op) { operations.push_back(op); });
  for (linalg::LinalgOp op : operations) {
    if (op.getNumParallelLoops() != op.getNumLoops() || llvm::isa<linalg::FillOp>(op.getOperation())) continue;
    const mlir::FailureOr<linalg::GenericOp> generic = generalize(rewriter, op);
    if (mlir::failed(generic)) continue;
    if (const std::optional<Turned> turned = find_turned(*generic, options))
      Rewrite(rewriter, *generic, *turned).run(*generic);
  }
}

}  // namespace baton::compiler_lite::codegen::cpu
