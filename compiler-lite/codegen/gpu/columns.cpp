#include "compiler-lite/codegen/gpu/columns.hpp"

#include "compiler-lite/codegen/gpu/combine.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::gpu {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

namespace {

// Accesses of a thread that are on their way at once.
constexpr int64_t kAtOnceMin = 4, kAtOnceMax = 8;

int64_t rounded_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

WideColumns::WideColumns(mlir::linalg::GenericOp op, llvm::ArrayRef<mlir::Operation*> combiners,
                         llvm::ArrayRef<unsigned> parallel, llvm::ArrayRef<unsigned> reduction, int64_t columns)
    : op_(op),
      location_(op.getLoc()),
      combiners_(combiners),
      parallel_(parallel),
      reduction_(reduction),
      reads_(op, parallel.back()) {
  while (across_ < kWarp && across_ * reads_.lanes() < columns) across_ *= 2;
}

Value WideColumns::fits_here(OpBuilder& builder) {
  const Value width = loop_sizes(builder, op_)[parallel_.back()];
  const Value left = builder.create<arith::RemUIOp>(location_, width, constant(builder, reads_.lanes()));
  const Value none = builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, left, constant(builder, 0));
  return builder.create<arith::AndIOp>(location_, none, reads_.are_aligned(builder));
}

void WideColumns::write(OpBuilder& builder, Block& block) {
  const Values sizes = loop_sizes(builder, op_);
  for (const unsigned loop : parallel_) parallel_sizes_.push_back(sizes[loop]);
  for (const unsigned loop : reduction_) reduction_sizes_.push_back(sizes[loop]);
  const Value results = product(builder, location_, parallel_sizes_),
              steps = product(builder, location_, reduction_sizes_);
  const int64_t parts = block.threads() / across_;
  const Value across = constant(builder, across_), thread = block.thread();
  const Value part = builder.create<arith::DivUIOp>(location_, thread, across);
  column_ = builder.create<arith::MulIOp>(location_, builder.create<arith::RemUIOp>(location_, thread, across),
                                          constant(builder, reads_.lanes()));
  auto loop =
      builder.create<scf::ForOp>(location_, constant(builder, 0), results, constant(builder, across_ * reads_.lanes()));
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  const Value number = inside.create<arith::AddIOp>(location_, loop.getInductionVar(), column_);
  const Value is_result = inside.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, number, results);
  const Value safe = inside.create<arith::SelectOp>(location_, is_result, number, constant(inside, 0));
  const Values result = split(inside, location_, safe, parallel_sizes_);
  Values sums;
  for (mlir::Operation* combiner : combiners_) {
    sums.append(static_cast<size_t>(reads_.lanes()), neutral_of(inside, location_, combiner));
  }
  const int64_t at_once = steps_at_once(parts);
  const Value rest = inside.create<arith::RemUIOp>(location_, steps, constant(inside, parts * at_once));
  const Value whole = inside.create<arith::SubIOp>(location_, steps, rest);
  sums = take_steps(inside, result, part, whole, parts, at_once, sums);
  const Value first_left = inside.create<arith::AddIOp>(location_, whole, part);
  sums = take_steps(inside, result, first_left, steps, parts, 1, sums);
  join_warps(inside, block, loop.getInductionVar(), results, sums);
}

Value WideColumns::constant(OpBuilder& builder, int64_t value) {
  return builder.create<arith::ConstantIndexOp>(location_, value);
}

// With which the waits are the fewest: those of whole rounds, then one by one.
int64_t WideColumns::steps_at_once(int64_t parts) const {
  mlir::linalg::GenericOp op = op_;
  int64_t steps = 1;
  for (const unsigned loop : reduction_) {
    const int64_t size = op.getStaticLoopRanges()[loop];
    if (mlir::ShapedType::isDynamic(size)) return kAtOnceMin;
    steps *= size;
  }
  int64_t best = 1, least = rounded_up(steps, parts);
  for (int64_t at_once = 2; at_once <= kAtOnceMax; ++at_once) {
    const int64_t rounds = steps / (parts * at_once), left = steps % (parts * at_once);
    const int64_t waits = rounds + rounded_up(left, parts);
    if (waits < least || (waits == least && best < kAtOnceMin)) best = at_once, least = waits;
  }
  return best;
}

Values WideColumns::point_of(ValueRange results, ValueRange steps) const {
  Values point(parallel_.size() + reduction_.size());
  for (size_t i = 0; i < parallel_.size(); ++i) point[parallel_[i]] = results[i];
  for (size_t i = 0; i < reduction_.size(); ++i) point[reduction_[i]] = steps[i];
  return point;
}

Values WideColumns::take_steps(OpBuilder& builder, ValueRange result, Value begin, Value end, int64_t parts,
                               int64_t at_once, ValueRange sums) {
  auto loop = builder.create<scf::ForOp>(location_, begin, end, constant(builder, parts * at_once), sums);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  Values next(loop.getRegionIterArgs());
  // The accesses first: the driver's compiler moves them up a little, not over all that is computed between them.
  llvm::SmallVector<Values> points;
  llvm::SmallVector<llvm::SmallVector<Values>> loaded;
  for (int64_t i = 0; i < at_once; ++i) {
    const Value number =
        inside.createOrFold<arith::AddIOp>(location_, loop.getInductionVar(), constant(inside, i * parts));
    points.push_back(point_of(result, split(inside, location_, number, reduction_sizes_)));
    loaded.push_back(reads_.load(inside, points.back()));
  }
  for (size_t i = 0; i < points.size(); ++i) next = take_step(inside, points[i], loaded[i], next);
  inside.create<scf::YieldOp>(location_, next);
  return Values(loop.getResults());
}

// The sums of each result stand side by side, one for each lane.
Values WideColumns::take_step(OpBuilder& builder, const Values& point, llvm::ArrayRef<Values> loaded, ValueRange sums) {
  const auto lanes = static_cast<size_t>(reads_.lanes());
  Values next(sums.size());
  for (size_t lane = 0; lane < lanes; ++lane) {
    Values outs;
    for (size_t i = 0; i < combiners_.size(); ++i) outs.push_back(sums[i * lanes + lane]);
    const Values made = reads_.compute(builder, point, static_cast<int64_t>(lane), loaded, outs);
    for (size_t i = 0; i < made.size(); ++i) next[i * lanes + lane] = made[i];
  }
  return next;
}

void WideColumns::join_warps(OpBuilder& builder, Block& block, Value first, Value results, Values sums) {
  const auto lanes = static_cast<size_t>(reads_.lanes());
  const int64_t lanes_of_warp = block.features().warp, group = std::max(lanes_of_warp, across_);
  for (int64_t distance = lanes_of_warp / 2; distance >= across_; distance /= 2) {
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = combine(builder, combiners_[i / lanes], sums[i], shuffle(builder, location_, sums[i], distance));
    }
  }
  const int64_t warps = block.threads() / group, columns = across_ * reads_.lanes();
  const Value width = constant(builder, group);
  const Value warp = builder.create<arith::DivUIOp>(location_, block.thread(), width);
  const Value lane = builder.create<arith::RemUIOp>(location_, block.thread(), width);
  Values places;
  for (size_t i = 0; i < combiners_.size(); ++i) {
    const auto type = mlir::MemRefType::get({warps, columns}, sums[i * lanes].getType());
    places.push_back(builder.create<mlir::memref::AllocOp>(location_, type));
  }
  const auto is_below = [&](OpBuilder& at, Value number, Value end) -> Value {
    return at.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, number, end);
  };
  OpBuilder leaving =
      builder.create<scf::IfOp>(location_, is_below(builder, lane, constant(builder, across_))).getThenBodyBuilder();
  for (size_t i = 0; i < sums.size(); ++i) {
    const Value column =
        leaving.createOrFold<arith::AddIOp>(location_, column_, constant(leaving, static_cast<int64_t>(i % lanes)));
    leaving.create<mlir::memref::StoreOp>(location_, sums[i], places[i / lanes], ValueRange{warp, column});
  }
  Block::barrier(builder, location_);
  const Value number = builder.create<arith::AddIOp>(location_, first, block.thread());
  const Value joins = builder.create<arith::AndIOp>(
      location_, is_below(builder, block.thread(), constant(builder, columns)), is_below(builder, number, results));
  OpBuilder joining = builder.create<scf::IfOp>(location_, joins).getThenBodyBuilder();
  const Values point =
      point_of(split(joining, location_, number, parallel_sizes_), Values(reduction_.size(), constant(joining, 0)));
  Values totals;
  for (size_t i = 0; i < combiners_.size(); ++i) {
    Value total = load(joining, op_, op_.getDpsInitsMutable()[static_cast<unsigned>(i)], point);
    for (int64_t each = 0; each < warps; ++each) {
      const Value sum = joining.create<mlir::memref::LoadOp>(location_, places[i],
                                                             ValueRange{constant(joining, each), block.thread()});
      total = combine(joining, combiners_[i], total, sum);
    }
    totals.push_back(total);
  }
  store(joining, op_, point, totals);
  Block::barrier(builder, location_);  // Before the places are used for the next results.
}

}  // namespace baton::compiler_lite::codegen::gpu
