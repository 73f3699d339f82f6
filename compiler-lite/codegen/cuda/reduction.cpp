#include "compiler-lite/codegen/cuda/reduction.hpp"

#include "compiler-lite/codegen/cuda/joins.hpp"
#include "compiler-lite/codegen/loops.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::cuda {
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

// At most how many results there are; -1: nobody knows.
int64_t result_count(linalg::GenericOp op, const Loops& loops) {
  int64_t count = 1;
  const llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (const unsigned loop : loops.parallel) {
    if (mlir::ShapedType::isDynamic(sizes[loop])) return -1;
    count *= sizes[loop];
  }
  return count;
}

Value constant(OpBuilder& builder, Location location, int64_t value) {
  return builder.create<arith::ConstantIndexOp>(location, value);
}

class SharedReduction {
 public:
  SharedReduction(linalg::GenericOp op, Block& block, llvm::ArrayRef<mlir::Operation*> combiners)
      : op_(op), location_(op.getLoc()), block_(block), combiners_(combiners), loops_(loops_of(op)) {}

  void write(OpBuilder& builder) {
    const Values sizes = loop_sizes(builder, op_);
    parallel_sizes_ = pick(sizes, loops_.parallel);
    reduction_sizes_ = pick(sizes, loops_.reduction);
    const Value results = product(builder, location_, parallel_sizes_);
    steps_ = product(builder, location_, reduction_sizes_);
    const int64_t known = result_count(op_, loops_);
    // Dynamic tiles hold as many results as the block has warps.
    const bool by_warps = block_.threads() > kWarp && (known < 0 || known * kWarp >= block_.threads());
    const int64_t group = by_warps ? kWarp : block_.threads();
    const Value width = constant(builder, location_, group);
    lane_ = builder.create<arith::RemUIOp>(location_, block_.thread(), width);
    const Value first = builder.create<arith::DivUIOp>(location_, block_.thread(), width);
    auto loop =
        builder.create<scf::ForOp>(location_, first, results, constant(builder, location_, block_.threads() / group));
    OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
    write_result(inside, split(inside, location_, loop.getInductionVar(), parallel_sizes_), group);
  }

 private:
  void write_result(OpBuilder& builder, ValueRange result, int64_t group) {
    Values partial;
    for (mlir::Operation* combiner : combiners_) partial.push_back(neutral_of(builder, location_, combiner));
    auto loop = builder.create<scf::ForOp>(location_, lane_, steps_, constant(builder, location_, group), partial);
    {
      OpBuilder inside = OpBuilder::atBlockEnd(loop.getBody());
      const Values step = split(inside, location_, loop.getInductionVar(), reduction_sizes_);
      const Values next = compute_loaded(inside, op_, point_of(loops_, result, step), loop.getRegionIterArgs());
      inside.create<scf::YieldOp>(location_, next);
    }
    partial.assign(loop.getResults().begin(), loop.getResults().end());
    join(builder, location_, combiners_, partial, lane_, group);
    const Value is_first =
        builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, lane_, constant(builder, location_, 0));
    auto branch = builder.create<scf::IfOp>(location_, is_first);
    OpBuilder inside = branch.getThenBodyBuilder();
    const Values point = point_of(loops_, result, Values(loops_.reduction.size(), constant(inside, location_, 0)));
    for (size_t i = 0; i < partial.size(); ++i) {
      mlir::OpOperand& out = op_.getDpsInitsMutable()[static_cast<unsigned>(i)];
      partial[i] = combine(inside, combiners_[i], load(inside, op_, out, point), partial[i]);
    }
    store(inside, op_, point, partial);
  }

  linalg::GenericOp op_;
  Location location_;
  Block& block_;
  llvm::ArrayRef<mlir::Operation*> combiners_;
  Loops loops_;
  Values parallel_sizes_, reduction_sizes_;
  Value steps_, lane_;
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

void lower_alone(OpBuilder& builder, linalg::GenericOp op, Block& block, Loops loops) {
  const Location location = op.getLoc();
  // Neighbours in a warp take neighbours in memory.
  if (!loops.parallel.empty()) {
    const unsigned fastest = best_innermost(op, loops.parallel);
    llvm::erase(loops.parallel, fastest);
    loops.parallel.push_back(fastest);
  }
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

}  // namespace

void lower_reduction(OpBuilder& builder, linalg::GenericOp op, Block& block) {
  const Loops loops = loops_of(op);
  const llvm::SmallVector<mlir::Operation*> combiners = combiners_of(op);
  const int64_t count = result_count(op, loops);
  const bool few = count >= 0 && count < kFewResults;
  const bool whole_warps = block.threads() % kWarp == 0;
  if (!combiners.empty() && whole_warps && (few || elements_follow_each_other(op, loops))) {
    allow_reassociation(op);
    SharedReduction(op, block, combiners).write(builder);
  } else {
    lower_alone(builder, op, block, loops);
  }
}

}  // namespace baton::compiler_lite::codegen::cuda
