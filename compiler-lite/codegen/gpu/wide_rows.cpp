#include "compiler-lite/codegen/gpu/wide_rows.hpp"

#include "compiler-lite/codegen/gpu/combine.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::gpu {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

namespace {

// Accesses of a thread that are on their way at once.
constexpr int64_t kAtOnce = 4;

}  // namespace

WideRows::WideRows(mlir::linalg::GenericOp op, llvm::ArrayRef<mlir::Operation*> combiners,
                   llvm::ArrayRef<unsigned> parallel, llvm::ArrayRef<unsigned> reduction, int64_t rows, int64_t warp)
    : op_(op),
      location_(op.getLoc()),
      combiners_(combiners),
      parallel_(parallel),
      step_(reduction.front()),
      reads_(op, reduction.front()),
      rows_(rows) {
  const int64_t length = op.getStaticLoopRanges()[step_], lanes = reads_.lanes();
  if (reduction.size() != 1 || mlir::ShapedType::isDynamic(length) || lanes == 1 || length % lanes != 0) return;
  accesses_ = length / lanes;
  while (sharers_ < warp && sharers_ * 2 <= accesses_) sharers_ *= 2;
}

void WideRows::write(OpBuilder& builder, Block& block) {
  const Values sizes = loop_sizes(builder, op_);
  Values parallel_sizes;
  for (const unsigned loop : parallel_) parallel_sizes.push_back(sizes[loop]);
  const Value results = product(builder, location_, parallel_sizes), sharers = constant(builder, sharers_);
  const int64_t across = block.threads() / sharers_;
  const int64_t at_once = accesses_ > sharers_ ? 1 : std::clamp<int64_t>((rows_ + across - 1) / across, 1, kAtOnce);
  sharer_ = builder.create<arith::RemUIOp>(location_, block.thread(), sharers);
  const Value row = builder.create<arith::DivUIOp>(location_, block.thread(), sharers);
  auto loop = builder.create<scf::ForOp>(location_, constant(builder, 0), results, constant(builder, across * at_once));
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  llvm::SmallVector<Values> points, parts;
  llvm::SmallVector<Access> accesses;
  Values are_results;
  for (int64_t i = 0; i < at_once; ++i) {
    const Value first = inside.create<arith::AddIOp>(location_, loop.getInductionVar(), constant(inside, i * across));
    const Value number = inside.create<arith::AddIOp>(location_, first, row);
    are_results.push_back(inside.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, number, results));
    const Value safe = inside.create<arith::SelectOp>(location_, are_results.back(), number, constant(inside, 0));
    points.push_back(split(inside, location_, safe, parallel_sizes));
    if (accesses_ != sharers_) {
      parts.push_back(take_row(inside, points.back()));
    } else {
      accesses.push_back(begin_access(inside, points.back(), sharer_));
    }
  }
  for (const Access& access : accesses) parts.push_back(take_access(inside, access, beginning(inside)));
  for (size_t i = 0; i < points.size(); ++i) leave(inside, points[i], are_results[i], parts[i]);
}

Value WideRows::constant(OpBuilder& builder, int64_t value) {
  return builder.create<arith::ConstantIndexOp>(location_, value);
}

Values WideRows::point_of(ValueRange result, Value step) const {
  Values point(parallel_.size() + 1);
  for (size_t i = 0; i < parallel_.size(); ++i) point[parallel_[i]] = result[i];
  point[step_] = step;
  return point;
}

Values WideRows::beginning(OpBuilder& builder) {
  Values sums;
  for (mlir::Operation* combiner : combiners_) sums.push_back(neutral_of(builder, location_, combiner));
  return sums;
}

Values WideRows::take_row(OpBuilder& builder, ValueRange result) {
  Values sums = beginning(builder);
  const int64_t round = sharers_ * kAtOnce, whole = accesses_ / round * round;
  sums = take_steps(builder, result, sharer_, constant(builder, whole), kAtOnce, sums);
  const Value first_left = builder.create<arith::AddIOp>(location_, sharer_, constant(builder, whole));
  return take_steps(builder, result, first_left, constant(builder, accesses_), 1, sums);
}

Values WideRows::take_steps(OpBuilder& builder, ValueRange result, Value begin, Value end, int64_t at_once,
                            ValueRange sums) {
  auto loop = builder.create<scf::ForOp>(location_, begin, end, constant(builder, sharers_ * at_once), sums);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  Values next(loop.getRegionIterArgs());
  llvm::SmallVector<Access> accesses;
  for (int64_t i = 0; i < at_once; ++i) {
    const Value number =
        inside.createOrFold<arith::AddIOp>(location_, loop.getInductionVar(), constant(inside, i * sharers_));
    accesses.push_back(begin_access(inside, result, number));
  }
  for (const Access& access : accesses) next = take_access(inside, access, next);
  inside.create<scf::YieldOp>(location_, next);
  return Values(loop.getResults());
}

// The driver's compiler moves accesses up a little, not over all that is computed between them: they are begun together.
WideRows::Access WideRows::begin_access(OpBuilder& builder, ValueRange result, Value number) {
  const Value step = builder.create<arith::MulIOp>(location_, number, constant(builder, reads_.lanes()));
  const Values point = point_of(result, step);
  return {point, reads_.load(builder, point)};
}

Values WideRows::take_access(OpBuilder& builder, const Access& access, ValueRange sums) {
  Values next(sums);
  for (int64_t lane = 0; lane < reads_.lanes(); ++lane) {
    next = reads_.compute(builder, access.point, lane, access.loaded, next);
  }
  return next;
}

void WideRows::leave(OpBuilder& builder, ValueRange result, Value is_result, Values sums) {
  for (int64_t distance = sharers_ / 2; distance > 0; distance /= 2) {
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = combine(builder, combiners_[i], sums[i], shuffle(builder, location_, sums[i], distance));
    }
  }
  const Value is_first =
      builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, sharer_, constant(builder, 0));
  OpBuilder inside = builder.create<scf::IfOp>(location_, builder.create<arith::AndIOp>(location_, is_first, is_result))
                         .getThenBodyBuilder();
  const Values point = point_of(result, constant(inside, 0));
  for (size_t i = 0; i < sums.size(); ++i) {
    mlir::OpOperand& out = op_.getDpsInitsMutable()[static_cast<unsigned>(i)];
    sums[i] = combine(inside, combiners_[i], load(inside, op_, out, point), sums[i]);
  }
  store(inside, op_, point, sums);
}

}  // namespace baton::compiler_lite::codegen::gpu
