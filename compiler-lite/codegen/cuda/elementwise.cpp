#include "compiler-lite/codegen/cuda/elementwise.hpp"

#include "compiler-lite/codegen/cuda/accesses.hpp"
#include "compiler-lite/codegen/llvm_values.hpp"
#include "compiler-lite/codegen/loops.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// How an operand is read while one loop makes a step.
enum class Step { kSame, kNext, kElsewhere };

Step step_of(linalg::GenericOp op, mlir::OpOperand& operand, unsigned loop) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
  const auto type = llvm::dyn_cast<mlir::MemRefType>(operand.get().getType());
  if (!type || !map.isFunctionOfDim(loop)) return Step::kSame;
  for (unsigned i = 0; i + 1 < map.getNumResults(); ++i) {
    if (map.getResult(i).isFunctionOfDim(loop)) return Step::kElsewhere;
  }
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  const bool contiguous = mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset)) && strides.back() == 1;
  const bool next = map.getResults().back() == mlir::getAffineDimExpr(loop, map.getContext());
  return contiguous && next && type.getElementType().isIntOrFloat() ? Step::kNext : Step::kElsewhere;
}

// How many elements a thread takes at once along `loop`; 1: the operation is none for vectors.
int64_t lanes_of(linalg::GenericOp op, unsigned loop) {
  int64_t widest = 1;
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const Step step = step_of(op, operand, loop);
    if (step == Step::kElsewhere || (step == Step::kSame && op.isDpsInit(&operand))) return 1;
    if (step == Step::kSame) continue;
    const mlir::Type element = mlir::getElementTypeOrSelf(operand.get().getType());
    widest = std::max(widest, stored_bytes(element));
  }
  return kAccessBytes / widest;
}

class Vectors {
 public:
  Vectors(OpBuilder& builder, linalg::GenericOp op, unsigned loop, int64_t lanes)
      : op_(op), location_(op.getLoc()), loop_(loop), lanes_(lanes) {
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      const bool is_read_along = step_of(op, operand, loop) == Step::kNext;
      memories_.push_back(is_read_along ? open_memory(builder, location_, operand.get()) : Memory{});
    }
  }

  // Whether all addresses are multiples of their access.
  Value are_aligned(OpBuilder& builder) {
    Value rest = make_i64(builder, location_, 0);
    for (const Memory& memory : memories_) {
      if (!memory.base) continue;
      const Value bits = unaligned_bits(builder, location_, memory, lanes_ * stored_bytes(memory.element));
      rest = builder.create<LLVM::OrOp>(location_, rest, bits);
    }
    return builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, rest, make_i64(builder, location_, 0));
  }

  // The elements from `point` on.
  void write(OpBuilder& builder, const Values& point) {
    llvm::SmallVector<Values> loaded(memories_.size()), results(static_cast<size_t>(op_.getNumDpsInits()));
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      const Memory& memory = memories_[operand.getOperandNumber()];
      if (!op_.payloadUsesValueFromOperand(&operand) || !memory.base) continue;
      loaded[operand.getOperandNumber()] =
          load_elements(builder, location_, memory, address(builder, operand, point), lanes_);
    }
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      const Values yielded = compute_lane(builder, point, lane, loaded);
      for (size_t i = 0; i < results.size(); ++i) results[i].push_back(yielded[i]);
    }
    for (mlir::OpOperand& operand : op_.getDpsInitsMutable()) {
      const Memory& memory = memories_[operand.getOperandNumber()];
      const size_t result = operand.getOperandNumber() - static_cast<size_t>(op_.getNumDpsInputs());
      store_elements(builder, location_, memory, address(builder, operand, point), results[result]);
    }
  }

 private:
  Value address(OpBuilder& builder, mlir::OpOperand& operand, const Values& point) {
    return address_of(builder, location_, memories_[operand.getOperandNumber()], indices(builder, op_, operand, point));
  }

  Values compute_lane(OpBuilder& builder, Values point, int64_t lane, llvm::ArrayRef<Values> loaded) {
    const Value offset = builder.create<arith::ConstantIndexOp>(location_, lane);
    point[loop_] = builder.create<arith::AddIOp>(location_, point[loop_], offset);
    Values operands;
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      const Values& lanes = loaded[operand.getOperandNumber()];
      if (!op_.payloadUsesValueFromOperand(&operand)) {
        const mlir::Type type = mlir::getElementTypeOrSelf(operand.get().getType());
        operands.push_back(builder.create<arith::ConstantOp>(location_, type, builder.getZeroAttr(type)));
      } else if (lanes.empty()) {
        operands.push_back(load(builder, op_, operand, point));
      } else {
        operands.push_back(lanes[static_cast<size_t>(lane)]);
      }
    }
    return compute(builder, op_, point, operands);
  }

  linalg::GenericOp op_;
  Location location_;
  unsigned loop_;
  int64_t lanes_;
  llvm::SmallVector<Memory> memories_;  // Without a base for what isn't read element by element.
};

// The loops of an operation in the order in which threads take points, the best one for that the fastest.
class Order {
 public:
  explicit Order(linalg::GenericOp op) : loops_(llvm::to_vector(llvm::seq(0u, op.getNumLoops()))) {
    if (loops_.empty()) return;
    const unsigned fastest = best_innermost(op, loops_);
    llvm::erase(loops_, fastest);
    loops_.push_back(fastest);
  }

  unsigned fastest() const { return loops_.back(); }
  bool is_single_point() const { return loops_.empty(); }

  Value count_rows(OpBuilder& builder, Location location, const Values& sizes) const {
    Values rows;
    for (const unsigned loop : llvm::ArrayRef(loops_).drop_back()) rows.push_back(sizes[loop]);
    return product(builder, location, rows);
  }

  // The point with this number, where the fastest loop has `width` steps.
  Values point(OpBuilder& builder, Location location, Value number, const Values& sizes, Value width) const {
    Values ordered;
    for (const unsigned loop : loops_) ordered.push_back(sizes[loop]);
    ordered.back() = width;
    const Values digits = split(builder, location, number, ordered);
    Values point(loops_.size());
    for (size_t i = 0; i < loops_.size(); ++i) point[loops_[i]] = digits[i];
    return point;
  }

 private:
  llvm::SmallVector<unsigned> loops_;
};

void write_point(OpBuilder& builder, linalg::GenericOp op, const Values& point) {
  store(builder, op, point, compute_loaded(builder, op, point));
}

}  // namespace

void lower_elementwise(OpBuilder& builder, linalg::GenericOp op, Block& block) {
  const Location location = op.getLoc();
  const Order order(op);
  if (order.is_single_point()) {
    return block.by_one(builder, location, [&](OpBuilder& inside) { write_point(inside, op, {}); });
  }
  const auto multiply = [&](OpBuilder& at, Value a, Value b) { return at.createOrFold<arith::MulIOp>(location, a, b); };
  const Values sizes = loop_sizes(builder, op);
  const Value rows = order.count_rows(builder, location, sizes);
  const Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
  const int64_t lanes = lanes_of(op, order.fastest());
  Value done = zero, rest = sizes[order.fastest()];  // Of each row.
  if (lanes > 1) {
    Vectors vectors(builder, op, order.fastest(), lanes);
    const Value width = builder.create<arith::ConstantIndexOp>(location, lanes);
    const Value whole = builder.createOrFold<arith::DivUIOp>(location, rest, width);
    const Value groups = builder.create<arith::SelectOp>(location, vectors.are_aligned(builder), whole, zero);
    block.strided(builder, location, multiply(builder, rows, groups), [&](OpBuilder& inside, Value number) {
      Values point = order.point(inside, location, number, sizes, groups);
      point[order.fastest()] = multiply(inside, point[order.fastest()], width);
      vectors.write(inside, point);
    });
    done = multiply(builder, groups, width);
    rest = builder.create<arith::SubIOp>(location, rest, done);
  }
  block.strided(builder, location, multiply(builder, rows, rest), [&](OpBuilder& inside, Value number) {
    Values point = order.point(inside, location, number, sizes, rest);
    point[order.fastest()] = inside.createOrFold<arith::AddIOp>(location, point[order.fastest()], done);
    write_point(inside, op, point);
  });
}

}  // namespace baton::compiler_lite::codegen::cuda
