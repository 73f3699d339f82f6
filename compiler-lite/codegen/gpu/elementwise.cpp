#include "compiler-lite/codegen/gpu/elementwise.hpp"

#include "compiler-lite/codegen/gpu/transpose.hpp"
#include "compiler-lite/codegen/gpu/vectors.hpp"
#include "compiler-lite/codegen/loops.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

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
  if (lower_transpose(builder, op, block, order.fastest())) return;
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
      vectors.write(inside, point, {});
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

}  // namespace baton::compiler_lite::codegen::gpu
