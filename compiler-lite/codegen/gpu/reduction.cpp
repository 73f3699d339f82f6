#include "compiler-lite/codegen/gpu/reduction.hpp"

#include "compiler-lite/codegen/extreme.hpp"
#include "compiler-lite/codegen/gpu/columns.hpp"
#include "compiler-lite/codegen/gpu/combine.hpp"
#include "compiler-lite/codegen/gpu/wide_rows.hpp"
#include "compiler-lite/codegen/loops.hpp"
#include "compiler-lite/codegen/size_bounds.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

// Results of one block that are fewer than this are shared by its threads however their elements lie.
constexpr int64_t kFewResults = 64;
// As many columns that warps can share the steps of each; more have threads of their own.
constexpr int64_t kColumnsMin = 16, kColumnsMax = 128, kColumnThreads = 1024, kWideColumnThreads = 512;

struct Loops {
  llvm::SmallVector<unsigned> parallel, reduction;
};

Loops loops_of(linalg::GenericOp op) {
  Loops loops;
  const auto kinds = op.getIteratorTypesArray();
  for (unsigned i = 0; i < kinds.size(); ++i) {
    (kinds[i] == mlir::utils::IteratorType::parallel ? loops.parallel : loops.reduction).push_back(i);
  }
  return loops;
}

// Neighbours in a warp take neighbours in memory.
Loops fastest_last(linalg::GenericOp op) {
  Loops loops = loops_of(op);
  if (loops.parallel.empty()) return loops;
  const unsigned fastest = best_innermost(op, loops.parallel);
  llvm::erase(loops.parallel, fastest);
  loops.parallel.push_back(fastest);
  return loops;
}

Values pick(const Values& all, llvm::ArrayRef<unsigned> which) {
  Values some;
  for (const unsigned i : which) some.push_back(all[i]);
  return some;
}

// The point whose loops of these kinds stand there.
Values point_of(const Loops& loops, ValueRange parallel, ValueRange reduction) {
  Values point(loops.parallel.size() + loops.reduction.size());
  for (size_t i = 0; i < loops.parallel.size(); ++i) point[loops.parallel[i]] = parallel[i];
  for (size_t i = 0; i < loops.reduction.size(); ++i) point[loops.reduction[i]] = reduction[i];
  return point;
}

bool elements_follow_each_other(linalg::GenericOp op, const Loops& loops) {
  const unsigned best = best_innermost(op, llvm::to_vector(llvm::seq(0u, op.getNumLoops())));
  return llvm::is_contained(loops.reduction, best);
}

// At most how many steps a loop makes, as a result that runs along it says it; -1: not known.
int64_t most_steps(linalg::GenericOp op, unsigned loop) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    if (map.getResult(i) != mlir::getAffineDimExpr(loop, op.getContext())) continue;
    const std::optional<int64_t> bound = most(op.getDpsInitOperand(0)->get(), i);
    if (bound && *bound > 0) return *bound;
  }
  return -1;
}

// At most how many results there are; -1: not known.
int64_t result_count(linalg::GenericOp op, const Loops& loops) {
  int64_t count = 1;
  const llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (const unsigned loop : loops.parallel) {
    const int64_t size = mlir::ShapedType::isDynamic(sizes[loop]) ? most_steps(op, loop) : sizes[loop];
    if (size < 0) return -1;
    count *= size;
  }
  return count;
}

// Whether several threads had better share each row.
bool are_shared_rows(linalg::GenericOp op, const Loops& loops, int64_t warp) {
  if (!reduces_rows(op)) return false;
  int64_t steps = 1;
  for (const unsigned loop : loops.reduction) {
    const int64_t size = op.getStaticLoopRanges()[loop];
    if (mlir::ShapedType::isDynamic(size)) return true;
    steps *= size;
  }
  if (steps > kRowOfThread || warp == 0) return steps > kRowOfThread;
  return WideRows(op, {}, loops.parallel, loops.reduction, result_count(op, loops), warp).fits();
}

Value constant(OpBuilder& builder, Location location, int64_t value) {
  return builder.create<arith::ConstantIndexOp>(location, value);
}

// Accesses of several neighbours where the operands turn out to lie so, and the other way where they don't.
template <typename Wide>
void where_it_fits(OpBuilder& builder, Wide& wide, Block& block, llvm::function_ref<void(OpBuilder&)> other_way) {
  const Value fits = wide.fits_here(builder);
  auto choice = builder.create<scf::IfOp>(fits.getLoc(), fits, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder(), otherwise = choice.getElseBodyBuilder();
  wide.write(then, block);
  other_way(otherwise);
}

// Threads begin with what the results held before.
class ExtremeJoiner final : public Joiner {
 public:
  ExtremeJoiner(const Extreme& extreme, Values start) : extreme_(extreme), start_(std::move(start)) {}
  Values neutral(OpBuilder&, Location) const override { return start_; }
  Values join(OpBuilder& builder, ValueRange a, ValueRange b) const override {
    return join_extremes(builder, extreme_, a, b);
  }

 private:
  Extreme extreme_;
  Values start_;
};

// By an operation for each result, or where the results are an extreme and its place.
class SharedReduction {
 public:
  SharedReduction(linalg::GenericOp op, Block& block, llvm::ArrayRef<mlir::Operation*> combiners,
                  std::optional<Extreme> extreme = std::nullopt)
      : op_(op),
        location_(op.getLoc()),
        block_(block),
        combiners_(combiners),
        extreme_(extreme),
        loops_(loops_of(op)) {}

  void write(OpBuilder& builder) {
    const int64_t known = result_count(op_, loops_);
    // Dynamic tiles hold as many results as the block has warps.
    const int64_t warp = block_.features().warp;
    const bool enough = known < 0 || known * warp >= block_.threads();
    const bool by_warps = warp != 0 && block_.threads() > warp && enough;
    const int64_t group = by_warps ? warp : block_.threads();
    if (extreme_) return write_one_by_one(builder, group);
    WideRows wide(op_, combiners_, loops_.parallel, loops_.reduction, known, warp);
    if (!by_warps || !wide.fits()) return write_one_by_one(builder, group);
    where_it_fits(builder, wide, block_, [&](OpBuilder& otherwise) { write_one_by_one(otherwise, group); });
  }

 private:
  void write_one_by_one(OpBuilder& builder, int64_t group) {
    const Values sizes = loop_sizes(builder, op_);
    parallel_sizes_ = pick(sizes, loops_.parallel);
    reduction_sizes_ = pick(sizes, loops_.reduction);
    const Value results = product(builder, location_, parallel_sizes_);
    steps_ = product(builder, location_, reduction_sizes_);
    const Value width = constant(builder, location_, group);
    lane_ = builder.create<arith::RemUIOp>(location_, block_.thread(), width);
    const Value first = builder.create<arith::DivUIOp>(location_, block_.thread(), width);
    auto loop =
        builder.create<scf::ForOp>(location_, first, results, constant(builder, location_, block_.threads() / group));
    OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
    write_result(inside, split(inside, location_, loop.getInductionVar(), parallel_sizes_), group);
  }

  void write_result(OpBuilder& builder, ValueRange result, int64_t group) {
    Values partial = start(builder, result);
    const ExtremeJoiner by_extreme(extreme_.value_or(Extreme{}), partial);
    const CombinerJoiner by_combiners(combiners_);
    const Joiner& joiner = extreme_ ? static_cast<const Joiner&>(by_extreme) : by_combiners;
    auto loop = builder.create<scf::ForOp>(location_, lane_, steps_, constant(builder, location_, group), partial);
    {
      OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
      const Values step = split(inside, location_, loop.getInductionVar(), reduction_sizes_);
      const Values next = compute_loaded(inside, op_, point_of(loops_, result, step), loop.getRegionIterArgs());
      inside.create<scf::YieldOp>(location_, next);
    }
    partial.assign(loop.getResults().begin(), loop.getResults().end());
    join(builder, location_, joiner, partial, lane_, group, block_.features().warp);
    const Value is_first =
        builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, lane_, constant(builder, location_, 0));
    auto branch = builder.create<scf::IfOp>(location_, is_first);
    OpBuilder inside = branch.getThenBodyBuilder();
    const Values point = point_of(loops_, result, Values(loops_.reduction.size(), constant(inside, location_, 0)));
    for (size_t i = 0; i < combiners_.size(); ++i) {
      mlir::OpOperand& out = op_.getDpsInitsMutable()[static_cast<unsigned>(i)];
      partial[i] = combine(inside, combiners_[i], load(inside, op_, out, point), partial[i]);
    }
    store(inside, op_, point, partial);
  }

  // What a thread begins with.
  Values start(OpBuilder& builder, ValueRange result) {
    Values values;
    for (mlir::Operation* combiner : combiners_) values.push_back(neutral_of(builder, location_, combiner));
    if (!extreme_) return values;
    const Values point = point_of(loops_, result, Values(loops_.reduction.size(), constant(builder, location_, 0)));
    for (mlir::OpOperand& out : op_.getDpsInitsMutable()) values.push_back(load(builder, op_, out, point));
    return values;
  }

  linalg::GenericOp op_;
  Location location_;
  Block& block_;
  llvm::ArrayRef<mlir::Operation*> combiners_;
  std::optional<Extreme> extreme_;
  Loops loops_;
  Values parallel_sizes_, reduction_sizes_;
  Value steps_, lane_;
};

// Neighbours in a warp have results that are neighbours in memory; the warps of a block take steps in turn, several at
// once, and meet in shared memory. By an operation for each result, or where the results are an extreme and its place.
class ColumnReduction {
 public:
  ColumnReduction(linalg::GenericOp op, Block& block, llvm::ArrayRef<mlir::Operation*> combiners,
                  std::optional<Extreme> extreme = std::nullopt)
      : op_(op),
        location_(op.getLoc()),
        block_(block),
        combiners_(combiners),
        extreme_(extreme),
        loops_(fastest_last(op)) {}

  void write(OpBuilder& builder) {
    if (extreme_ || !block_.features().has_warps()) return write_one_by_one(builder);
    WideColumns wide(op_, combiners_, loops_.parallel, loops_.reduction, result_count(op_, loops_));
    if (!wide.fits()) return write_one_by_one(builder);
    where_it_fits(builder, wide, block_, [&](OpBuilder& otherwise) { write_one_by_one(otherwise); });
  }

 private:
  void write_one_by_one(OpBuilder& builder) {
    const Values sizes = loop_sizes(builder, op_);
    parallel_sizes_ = pick(sizes, loops_.parallel);
    reduction_sizes_ = pick(sizes, loops_.reduction);
    const Value width = constant(builder, location_, kWarp), results = product(builder, location_, parallel_sizes_);
    steps_ = product(builder, location_, reduction_sizes_);
    lane_ = builder.create<arith::RemUIOp>(location_, block_.thread(), width);
    part_ = builder.create<arith::DivUIOp>(location_, block_.thread(), width);
    auto loop = builder.create<scf::ForOp>(location_, constant(builder, location_, 0), results, width);
    OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
    const Value number = inside.create<arith::AddIOp>(location_, loop.getInductionVar(), lane_);
    const Value is_result = inside.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, number, results);
    const Value safe = inside.create<arith::SelectOp>(location_, is_result, number, constant(inside, location_, 0));
    write_results(inside, split(inside, location_, safe, parallel_sizes_), is_result);
  }

  // Steps on their way at once.
  static constexpr int64_t kAtOnce = 16;

  int64_t parts() const { return block_.threads() / kWarp; }

  // What is there before the first step, of each result.
  Values held_before(OpBuilder& builder, ValueRange result) {
    const Values point = point_of(loops_, result, Values(loops_.reduction.size(), constant(builder, location_, 0)));
    Values values;
    for (mlir::OpOperand& out : op_.getDpsInitsMutable()) values.push_back(load(builder, op_, out, point));
    return values;
  }

  void write_results(OpBuilder& builder, ValueRange result, Value is_result) {
    Values sums;
    for (mlir::Operation* combiner : combiners_) sums.push_back(neutral_of(builder, location_, combiner));
    if (extreme_) sums = held_before(builder, result);
    const Value round = constant(builder, location_, parts() * kAtOnce);
    const Value rest = builder.create<arith::RemUIOp>(location_, steps_, round);
    const Value whole = builder.create<arith::SubIOp>(location_, steps_, rest);
    sums = take_steps(builder, result, part_, whole, kAtOnce, sums);
    const Value first_left = builder.create<arith::AddIOp>(location_, whole, part_);
    sums = take_steps(builder, result, first_left, steps_, 1, sums);
    join_parts(builder, result, is_result, sums);
  }

  Values take_steps(OpBuilder& builder, ValueRange result, Value begin, Value end, int64_t at_once, ValueRange sums) {
    auto loop =
        builder.create<scf::ForOp>(location_, begin, end, constant(builder, location_, parts() * at_once), sums);
    OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
    Values next(loop.getRegionIterArgs());
    for (int64_t i = 0; i < at_once; ++i) {
      const Value number = inside.createOrFold<arith::AddIOp>(location_, loop.getInductionVar(),
                                                              constant(inside, location_, i * parts()));
      const Values step = split(inside, location_, number, reduction_sizes_);
      next = compute_loaded(inside, op_, point_of(loops_, result, step), next);
    }
    inside.create<scf::YieldOp>(location_, next);
    return Values(loop.getResults());
  }

  void join_parts(OpBuilder& builder, ValueRange result, Value is_result, ValueRange sums) {
    Values places;
    for (const Value sum : sums) {
      const auto type = mlir::MemRefType::get({parts(), kWarp}, sum.getType());
      places.push_back(builder.create<mlir::memref::AllocOp>(location_, type));
      builder.create<mlir::memref::StoreOp>(location_, sum, places.back(), ValueRange{part_, lane_});
    }
    Block::barrier(builder, location_);
    const Value is_first =
        builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, part_, constant(builder, location_, 0));
    auto branch = builder.create<scf::IfOp>(location_, builder.create<arith::AndIOp>(location_, is_first, is_result));
    OpBuilder inside = branch.getThenBodyBuilder();
    const Values point = point_of(loops_, result, Values(loops_.reduction.size(), constant(inside, location_, 0)));
    Values totals = held_before(inside, result);
    for (int64_t part = 0; part < parts(); ++part) {
      Values of_part;
      for (const Value place : places) {
        const Values at = {constant(inside, location_, part), lane_};
        of_part.push_back(inside.create<mlir::memref::LoadOp>(location_, place, at));
      }
      if (extreme_) {
        totals = join_extremes(inside, *extreme_, totals, of_part);
        continue;
      }
      for (size_t i = 0; i < totals.size(); ++i) totals[i] = combine(inside, combiners_[i], totals[i], of_part[i]);
    }
    store(inside, op_, point, totals);
    Block::barrier(builder, location_);  // Before the places are used for the next results.
  }

  linalg::GenericOp op_;
  Location location_;
  Block& block_;
  llvm::ArrayRef<mlir::Operation*> combiners_;
  std::optional<Extreme> extreme_;
  Loops loops_;
  Values parallel_sizes_, reduction_sizes_;
  Value steps_, lane_, part_;
};

// The loops that reduce, one in another, around the values they change.
Values reduce_alone(OpBuilder& builder, linalg::GenericOp op, const Loops& loops, const Values& sizes,
                    ValueRange result, Values step, ValueRange values) {
  const Location location = op.getLoc();
  if (step.size() == loops.reduction.size()) return compute_loaded(builder, op, point_of(loops, result, step), values);
  auto loop = builder.create<scf::ForOp>(location, constant(builder, location, 0), sizes[step.size()],
                                         constant(builder, location, 1), values);
  OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
  step.push_back(loop.getInductionVar());
  const Values next = reduce_alone(inside, op, loops, sizes, result, step, loop.getRegionIterArgs());
  inside.create<scf::YieldOp>(location, next);
  return Values(loop.getResults());
}

void lower_alone(OpBuilder& builder, linalg::GenericOp op, Block& block) {
  const Location location = op.getLoc();
  const Loops loops = fastest_last(op);
  const Values sizes = loop_sizes(builder, op);
  const Values parallel_sizes = pick(sizes, loops.parallel), reduction_sizes = pick(sizes, loops.reduction);
  const Value count = product(builder, location, parallel_sizes);
  block.strided(builder, location, count, [&](OpBuilder& inside, Value number) {
    const Values result = split(inside, location, number, parallel_sizes);
    const Values start = point_of(loops, result, Values(loops.reduction.size(), constant(inside, location, 0)));
    Values values;
    for (mlir::OpOperand& out : op.getDpsInitsMutable()) values.push_back(load(inside, op, out, start));
    store(inside, op, start, reduce_alone(inside, op, loops, reduction_sizes, result, {}, values));
  });
}

// Whether warps share the steps of each column.
bool shares_columns(linalg::GenericOp op) {
  const Loops loops = loops_of(op);
  const int64_t count = result_count(op, loops);
  return count >= kColumnsMin && count <= kColumnsMax && !elements_follow_each_other(op, loops) &&
         (!combiners_of(op).empty() || extreme_of(op));
}

}  // namespace

void lower_reduction(OpBuilder& builder, linalg::GenericOp op, Block& block) {
  const Loops loops = loops_of(op);
  const llvm::SmallVector<mlir::Operation*> combiners = combiners_of(op);
  const int64_t count = result_count(op, loops);
  const bool few = count >= 0 && count < kFewResults;
  const bool whole_warps = block.threads() % kWarp == 0;
  const bool rows = elements_follow_each_other(op, loops) && are_shared_rows(op, loops, block.features().warp);
  if (whole_warps && shares_columns(op)) {
    if (!combiners.empty()) allow_reassociation(op);
    ColumnReduction(op, block, combiners, combiners.empty() ? extreme_of(op) : std::nullopt).write(builder);
  } else if (!combiners.empty() && whole_warps && (few || rows)) {
    allow_reassociation(op);
    SharedReduction(op, block, combiners).write(builder);
  } else if (const std::optional<Extreme> extreme = extreme_of(op); extreme && whole_warps && (few || rows)) {
    SharedReduction(op, block, {}, extreme).write(builder);
  } else {
    lower_alone(builder, op, block);
  }
}

int64_t threads_wanted(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || !shares_columns(op)) return 0;
  if (combiners_of(op).empty()) return kColumnThreads;
  const Loops loops = fastest_last(op);
  return WideColumns(op, {}, loops.parallel, loops.reduction, result_count(op, loops)).fits() ? kWideColumnThreads
                                                                                              : kColumnThreads;
}

}  // namespace baton::compiler_lite::codegen::gpu
