#include "compiler-lite/codegen/gpu/rows.hpp"

#include "compiler-lite/codegen/gpu/accesses.hpp"
#include "compiler-lite/codegen/gpu/block.hpp"
#include "compiler-lite/codegen/gpu/combine.hpp"
#include "compiler-lite/codegen/gpu/row_plan.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "compiler-lite/codegen/loops.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// Elements of one row that a thread keeps: loads enough on their way, and registers for what is computed of them.
constexpr int64_t kElementsWanted = 16, kElementsMax = 32;
constexpr int64_t kThreadsMin = 64, kThreadsMax = 1024;
// The same where a thread only adds up what it reads, and keeps nothing. Fewer threads then meet less often.
constexpr int64_t kElementsWantedOfSum = 24, kElementsMaxOfSum = 80;
constexpr int64_t kThreadsMaxOfSum = 512;

// The threads that share a row: one where rows are very short, a warp where there are several and they are short, else the block.
struct Sharing {
  int64_t threads, group;
};

bool only_sums(const RowPlan& plan) {
  return llvm::all_of(plan.ops, [](const RowOp& each) {
    return !each.is_along_row || linalg::LinalgOp(each.op).getNumReductionLoops() > 0;
  });
}

std::optional<Sharing> choose_sharing(mlir::func::FuncOp kernel, const RowPlan& plan, const Features& features) {
  Sharing sharing{kBlockThreads, features.warp};
  if (kernel->hasAttr("workgroup_size")) sharing.threads = Block(kernel, features).threads();
  if (sharing.threads % kWarp != 0) return std::nullopt;
  if (plan.length <= kRowOfThread && plan.row_count != 1) return Sharing{sharing.threads, 1};
  if (features.has_warps() && plan.row_count != 1 && plan.length <= features.warp * kElementsMax) return sharing;
  const bool sums = only_sums(plan);
  if (!kernel->hasAttr("workgroup_size")) {
    const int64_t wanted = sums ? kElementsWantedOfSum : kElementsWanted;
    const int64_t most = sums ? kThreadsMaxOfSum : kThreadsMax;
    sharing.threads = kThreadsMin;
    while (sharing.threads < most && sharing.threads * wanted < plan.length) sharing.threads *= 2;
  }
  sharing.group = sharing.threads;
  if (plan.length > sharing.threads * (sums ? kElementsMaxOfSum : kElementsWanted)) return std::nullopt;
  return sharing;
}

// Whether elements that follow each other in a row do so in the operand.
bool follows_elements(const RowPlan& plan, linalg::LinalgOp op, mlir::OpOperand& operand) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
  const auto type = llvm::dyn_cast<mlir::MemRefType>(operand.get().getType());
  linalg::LinalgOp reducing = plan.ops[plan.reducing].op;
  if (!type || op.getNumLoops() != reducing.getNumLoops() || map.getNumResults() == 0) return false;
  const unsigned row_loop = op.getNumLoops() - 1;
  for (unsigned i = 0; i + 1 < map.getNumResults(); ++i) {
    if (map.getResult(i).isFunctionOfDim(row_loop)) return false;
  }
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  return type.getElementType().isIntOrFloat() &&
         map.getResults().back() == mlir::getAffineDimExpr(row_loop, map.getContext()) &&
         mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset)) && strides.back() == 1;
}

// Whether all rows in memory begin where accesses of several elements may.
Value are_aligned(OpBuilder& builder, const RowPlan& plan) {
  const Location location = linalg::LinalgOp(plan.ops[0].op)->getLoc();
  Value rest = make_i64(builder, location, 0);
  llvm::DenseSet<Value> seen;
  for (const RowOp& each : plan.ops) {
    for (mlir::OpOperand& operand : linalg::LinalgOp(each.op)->getOpOperands()) {
      const Value memory = operand.get();
      if (!each.is_along_row || !follows_elements(plan, each.op, operand) || !seen.insert(memory).second ||
          base_of(memory).getDefiningOp<mlir::memref::AllocOp>()) {
        continue;
      }
      const Memory opened = open_memory(builder, location, memory);
      const Value bits = unaligned_bits(builder, location, opened, plan.lanes * stored_bytes(opened.element));
      rest = builder.create<LLVM::OrOp>(location, rest, bits);
    }
  }
  return builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::eq, rest, make_i64(builder, location, 0));
}

class RowWriter {
 public:
  // For accesses of `lanes` elements.
  RowWriter(const RowPlan& plan, Block& block, int64_t group, int64_t lanes)
      : plan_(plan),
        location_(linalg::LinalgOp(plan.ops[0].op)->getLoc()),
        block_(block),
        group_(group),
        lanes_(lanes) {
    for (const RowOp& each : plan.ops) {
      for (mlir::OpOperand& init : generic(each).getDpsInitsMutable()) {
        is_along_row_[init.get()] = each.uses[init.getOperandNumber()] == RowUse::kElements;
      }
    }
  }

  void write(OpBuilder& builder) {
    linalg::GenericOp reducing = generic(plan_.reducing);
    Values sizes = loop_sizes(builder, reducing);
    sizes.pop_back();
    const bool whole = group_ == block_.threads();
    const Value width = constant(builder, group_), zero = constant(builder, 0);
    lane_ = whole ? block_.thread() : builder.create<arith::RemUIOp>(location_, block_.thread(), width).getResult();
    const Value first = whole ? zero : builder.create<arith::DivUIOp>(location_, block_.thread(), width).getResult();
    const Value step = constant(builder, block_.threads() / group_);
    auto loop = builder.create<scf::ForOp>(location_, first, product(builder, location_, sizes), step);
    OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
    row_ = split(inside, location_, loop.getInductionVar(), sizes);
    place_accesses(inside);
    for (const RowOp& each : plan_.ops) {
      each.is_along_row ? write_along_row(inside, each) : write_once(inside, each);
    }
    store_written(inside);
  }

 private:
  // Some elements that follow each other, and whether the row has them.
  struct Access {
    Value at;
    Value is_inside;  // Null: it always has.
  };

  static linalg::GenericOp generic(const RowOp& each) {
    return llvm::cast<linalg::GenericOp>(linalg::LinalgOp(each.op).getOperation());
  }
  linalg::GenericOp generic(size_t i) const { return generic(plan_.ops[i]); }

  Value constant(OpBuilder& builder, int64_t value) { return builder.create<arith::ConstantIndexOp>(location_, value); }

  // Neighbours in the group take neighbours in memory.
  void place_accesses(OpBuilder& builder) {
    const int64_t round = group_ * lanes_;
    const Value mine = builder.create<arith::MulIOp>(location_, lane_, constant(builder, lanes_));
    for (int64_t begin = 0; begin < plan_.length; begin += round) {
      Access access{builder.createOrFold<arith::AddIOp>(location_, mine, constant(builder, begin)), {}};
      if (begin + round > plan_.length) {
        access.is_inside = builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, access.at,
                                                         constant(builder, plan_.length));
        // A thread whose place is beyond the row reads the first element: that costs less than a branch around the read.
        access.at = builder.create<arith::SelectOp>(location_, access.is_inside, access.at, constant(builder, 0));
      }
      accesses_.push_back(access);
    }
  }

  Values point(OpBuilder& builder, size_t element) {
    const auto lanes = static_cast<size_t>(lanes_);
    const Value lane = constant(builder, static_cast<int64_t>(element % lanes));
    Values point = row_;
    point.push_back(builder.createOrFold<arith::AddIOp>(location_, accesses_[element / lanes].at, lane));
    return point;
  }
  size_t element_count() const { return accesses_.size() * static_cast<size_t>(lanes_); }

  // The point of an operation that has one for each row.
  Values point_of_row(OpBuilder& builder, linalg::GenericOp op) {
    Values point = row_;
    point.resize(op.getNumLoops(), constant(builder, 0));
    return point;
  }

  // The values of an operand for each element; one where it is the same for all of them.
  Values read(OpBuilder& builder, linalg::GenericOp op, mlir::OpOperand& operand, RowUse use) {
    const Value memory = operand.get();
    const mlir::Type type = mlir::getElementTypeOrSelf(memory.getType());
    if (!op.payloadUsesValueFromOperand(&operand)) {
      return {builder.create<arith::ConstantOp>(location_, type, builder.getZeroAttr(type))};
    }
    if (!llvm::isa<mlir::MemRefType>(memory.getType())) return {memory};
    const auto known = values_.find(memory);
    if (use != RowUse::kOther && known != values_.end()) return known->second;
    if (use == RowUse::kOther && !follows_elements(plan_, op, operand)) return read_each(builder, op, operand);
    const Values values = use == RowUse::kRow ? Values{load(builder, op, operand, point_of_row(builder, op))}
                                              : load_row(builder, op, operand);
    if (use != RowUse::kOther) values_[memory] = values;
    return values;
  }

  Values read_each(OpBuilder& builder, linalg::GenericOp op, mlir::OpOperand& operand) {
    if (op.getNumLoops() == row_.size() || op.getMatchingIndexingMap(&operand).getNumResults() == 0) {
      return {load(builder, op, operand, point_of_row(builder, op))};
    }
    Values values;
    for (size_t i = 0; i < element_count(); ++i) values.push_back(load(builder, op, operand, point(builder, i)));
    return values;
  }

  Values load_row(OpBuilder& builder, linalg::GenericOp op, mlir::OpOperand& operand) {
    const Memory memory = open_memory(builder, location_, operand.get());
    Values values;
    for (size_t i = 0; i < element_count(); i += static_cast<size_t>(lanes_)) {
      const Value address = address_of(builder, location_, memory, indices(builder, op, operand, point(builder, i)));
      llvm::append_range(values, load_elements(builder, location_, memory, address, lanes_));
    }
    return values;
  }

  // What each operand of `each` holds, reading in the order in which they stand.
  llvm::SmallVector<Values> read_operands(OpBuilder& builder, const RowOp& each, linalg::GenericOp op) {
    llvm::SmallVector<Values> operands;
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      const bool accumulates = op.getNumReductionLoops() > 0 && op.isDpsInit(&operand);
      operands.push_back(accumulates ? Values() : read(builder, op, operand, each.uses[operand.getOperandNumber()]));
    }
    return operands;
  }

  static Values pick(llvm::ArrayRef<Values> operands, size_t element) {
    Values picked;
    for (const Values& values : operands) {
      if (!values.empty()) picked.push_back(values.size() == 1 ? values[0] : values[element]);
    }
    return picked;
  }

  void write_along_row(OpBuilder& builder, const RowOp& each) {
    linalg::GenericOp op = generic(each);
    const llvm::SmallVector<Values> operands = read_operands(builder, each, op);
    if (op.getNumReductionLoops() > 0) return reduce(builder, op, operands);
    llvm::SmallVector<Values> results(static_cast<size_t>(op.getNumDpsInits()));
    for (size_t i = 0; i < element_count(); ++i) {
      const Values yielded = compute(builder, op, point(builder, i), pick(operands, i));
      for (size_t r = 0; r < results.size(); ++r) results[r].push_back(yielded[r]);
    }
    for (size_t r = 0; r < results.size(); ++r) values_[op.getDpsInits()[static_cast<unsigned>(r)]] = results[r];
  }

  void reduce(OpBuilder& builder, linalg::GenericOp op, llvm::ArrayRef<Values> operands) {
    allow_reassociation(op);
    const llvm::SmallVector<mlir::Operation*> combiners = combiners_of(op);
    Values parts;
    for (mlir::Operation* combiner : combiners) parts.push_back(neutral_of(builder, location_, combiner));
    for (size_t i = 0; i < element_count(); ++i) {
      Values values = pick(operands, i);
      llvm::append_range(values, parts);
      Values next = compute(builder, op, point(builder, i), values);
      const Value is_inside = accesses_[i / static_cast<size_t>(lanes_)].is_inside;
      for (size_t r = 0; r < parts.size(); ++r) {
        if (is_inside) next[r] = builder.create<arith::SelectOp>(location_, is_inside, next[r], parts[r]);
      }
      parts = next;
    }
    join(builder, location_, CombinerJoiner(combiners), parts, lane_, group_, block_.features().warp);
    for (size_t r = 0; r < parts.size(); ++r) {
      mlir::OpOperand& init = op.getDpsInitsMutable()[static_cast<unsigned>(r)];
      Values& value = values_[init.get()];
      const Value before = value.empty() ? load(builder, op, init, point_of_row(builder, op)) : value[0];
      value = {combine(builder, combiners[r], before, parts[r])};
    }
  }

  void write_once(OpBuilder& builder, const RowOp& each) {
    linalg::GenericOp op = generic(each);
    const llvm::SmallVector<Values> operands = read_operands(builder, each, op);
    const Values yielded = compute(builder, op, point_of_row(builder, op), pick(operands, 0));
    for (size_t r = 0; r < yielded.size(); ++r) values_[op.getDpsInits()[static_cast<unsigned>(r)]] = {yielded[r]};
  }

  // What others may see: not what the kernel has for itself.
  void store_written(OpBuilder& builder) {
    for (const Value memory : plan_.written) {
      if (base_of(memory).getDefiningOp<mlir::memref::AllocOp>()) continue;
      const Values values = values_[memory];
      const auto rank = static_cast<size_t>(llvm::cast<mlir::MemRefType>(memory.getType()).getRank());
      if (is_along_row_[memory]) {
        store_row(builder, memory, values);
        continue;
      }
      Values where = row_;
      where.resize(rank, constant(builder, 0));
      const Value is_first =
          builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, lane_, constant(builder, 0));
      auto branch = builder.create<scf::IfOp>(location_, is_first);
      branch.getThenBodyBuilder().create<mlir::memref::StoreOp>(location_, values[0], memory, where);
    }
  }

  void store_row(OpBuilder& builder, Value target, const Values& values) {
    const Memory memory = open_memory(builder, location_, target);
    const auto lanes = static_cast<size_t>(lanes_);
    for (size_t a = 0; a < accesses_.size(); ++a) {
      const auto store = [&](OpBuilder& at) {
        const Value address = address_of(at, location_, memory, point(at, a * lanes));
        store_elements(at, location_, memory, address, mlir::ValueRange(values).slice(a * lanes, lanes));
      };
      if (!accesses_[a].is_inside) {
        store(builder);
      } else {
        auto branch = builder.create<scf::IfOp>(location_, accesses_[a].is_inside);
        OpBuilder inside = branch.getThenBodyBuilder();
        store(inside);
      }
    }
  }

  const RowPlan& plan_;
  Location location_;
  Block& block_;
  int64_t group_, lanes_;
  Value lane_;
  Values row_;
  llvm::SmallVector<Access> accesses_;
  // What memory holds by now: an element for each of this thread's, or one for the row.
  llvm::DenseMap<Value, Values> values_;
  llvm::DenseMap<Value, bool> is_along_row_;
};

}  // namespace

mlir::FailureOr<bool> lower_rows(mlir::IRRewriter& rewriter, mlir::func::FuncOp kernel, const Features& features) {
  std::optional<RowPlan> plan = plan_rows(kernel);
  if (!plan) return false;
  const std::optional<Sharing> sharing = choose_sharing(kernel, *plan, features);
  if (!sharing) return false;
  kernel->setAttr("workgroup_size", rewriter.getIndexArrayAttr({sharing->threads, 1, 1}));
  for (RowOp& each : plan->ops) {
    mlir::FailureOr<linalg::GenericOp> generic = generalize(rewriter, each.op);
    if (mlir::failed(generic)) return mlir::failure();
    each.op = llvm::cast<linalg::LinalgOp>(generic->getOperation());
  }
  OpBuilder builder(kernel.getBody().front().getTerminator());
  Block block(kernel, features);
  const auto write = [&](OpBuilder& at, int64_t lanes) { RowWriter(*plan, block, sharing->group, lanes).write(at); };
  if (plan->lanes == 1) {
    write(builder, 1);
  } else {
    // Twice, and not a choice for each access: neighbours take other elements, and the optimizer would make one of two
    // loads of the same.
    auto choice = builder.create<scf::IfOp>(kernel.getLoc(), are_aligned(builder, *plan), /*withElseRegion=*/true);
    OpBuilder aligned = choice.getThenBodyBuilder(), odd = choice.getElseBodyBuilder();
    write(aligned, plan->lanes);
    write(odd, 1);
  }
  for (RowOp& each : plan->ops) rewriter.eraseOp(each.op);
  llvm::SmallVector<mlir::memref::AllocOp> unused;
  kernel.walk([&](mlir::memref::AllocOp alloc) {
    if (alloc->use_empty()) unused.push_back(alloc);
  });
  for (mlir::memref::AllocOp alloc : unused) rewriter.eraseOp(alloc);
  return true;
}

}  // namespace baton::compiler_lite::codegen::gpu
