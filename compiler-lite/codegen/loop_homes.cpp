#include "compiler-lite/codegen/loop_homes.hpp"

#include <algorithm>

#include "compiler-lite/codegen/kernel.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace bufferization = mlir::bufferization;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

bool is_tensor(Value value) { return llvm::isa<RankedTensorType>(value.getType()); }

bool has_known_sizes(mlir::ValueRange values) {
  return llvm::all_of(values, [](Value value) {
    return !is_tensor(value) || llvm::cast<RankedTensorType>(value.getType()).hasStaticShape();
  });
}

Value read_home(OpBuilder& builder, Location location, Value home) {
  return builder.create<bufferization::ToTensorOp>(location, home, /*restrict=*/true, /*writable=*/true);
}

void write_home(OpBuilder& builder, Location location, Value value, Value home) {
  // With any strides, so that nothing is moved only to be copied.
  const auto type = llvm::cast<mlir::MemRefType>(home.getType());
  const SmallVector<int64_t> strides(static_cast<size_t>(type.getRank()), mlir::ShapedType::kDynamic);
  const auto layout = mlir::StridedLayoutAttr::get(type.getContext(), mlir::ShapedType::kDynamic, strides);
  const auto any = mlir::MemRefType::get(type.getShape(), type.getElementType(), layout);
  const Value memory = builder.create<bufferization::ToMemrefOp>(location, any, value, /*read_only=*/true);
  builder.create<memref::CopyOp>(location, memory, home);
}

bool is_reshape(mlir::Operation* op) {
  return llvm::isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

// Whether `first` has memory that the loop may update in place: a binding's, or, of a workgroup that has a part of it, that part.
bool has_own_memory(Value first) {
  if (!first.hasOneUse()) return false;
  mlir::Operation* const op = first.getDefiningOp();
  if (auto view = llvm::dyn_cast_or_null<bufferization::ToTensorOp>(op)) return view.getWritable();
  const bool is_part = llvm::isa_and_nonnull<tensor::ExtractSliceOp>(op) || is_reshape(op);
  return is_part && op->getParentOfType<mlir::func::FuncOp>()->hasAttr(kUndivided) && has_own_memory(op->getOperand(0));
}

// Of what has it.
Value own_memory(OpBuilder& builder, Value first) {
  mlir::Operation* const op = first.getDefiningOp();
  if (auto view = llvm::dyn_cast<bufferization::ToTensorOp>(op)) return view.getMemref();
  const Value whole = own_memory(builder, op->getOperand(0));
  const auto type = llvm::cast<mlir::MemRefType>(whole.getType());
  if (auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) {
    const SmallVector<mlir::OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes(),
                                          strides = slice.getMixedStrides();
    const auto part =
        memref::SubViewOp::inferRankReducedResultType(slice.getType().getShape(), type, offsets, sizes, strides);
    return builder.create<memref::SubViewOp>(op->getLoc(), llvm::cast<mlir::MemRefType>(part), whole, offsets, sizes,
                                             strides);
  }
  if (auto wider = llvm::dyn_cast<tensor::ExpandShapeOp>(op)) {
    return builder.create<memref::ExpandShapeOp>(op->getLoc(), wider.getResultType().getShape(), whole,
                                                 wider.getReassociationIndices());
  }
  return builder.create<memref::CollapseShapeOp>(op->getLoc(), whole,
                                                 llvm::cast<tensor::CollapseShapeOp>(op).getReassociationIndices());
}

Value make_home(OpBuilder& builder, Location location, Value first) {
  if (has_own_memory(first)) return own_memory(builder, first);
  const auto type = llvm::cast<RankedTensorType>(first.getType());
  const Value home =
      builder.create<memref::AllocOp>(location, mlir::MemRefType::get(type.getShape(), type.getElementType()));
  write_home(builder, location, first, home);
  return home;
}

// Whether the condition hands on the tensors that come, in their places, and scalars as it likes.
bool hands_tensors_on(scf::WhileOp loop) {
  const mlir::ValueRange given = loop.getConditionOp().getArgs();
  const mlir::Block::BlockArgListType taken = loop.getBeforeArguments();
  for (size_t i = 0; i < std::max<size_t>(given.size(), taken.size()); ++i) {
    const bool gives = i < given.size() && is_tensor(given[i]), takes = i < taken.size() && is_tensor(taken[i]);
    if (gives != takes || (gives && given[i] != taken[i])) return false;
  }
  return true;
}

// The operand whose memory a loop or what writes into a destination goes on with; null for others.
Value written_operand(mlir::OpResult result) {
  mlir::Operation* const op = result.getOwner();
  if (auto written = llvm::dyn_cast<mlir::DestinationStyleOpInterface>(op)) {
    return written.getTiedOpOperand(result)->get();
  }
  if (auto slice = llvm::dyn_cast<tensor::InsertSliceOp>(op)) return slice.getDest();
  if (auto element = llvm::dyn_cast<tensor::InsertOp>(op)) return element.getDest();
  if (auto loop = llvm::dyn_cast<scf::ForOp>(op)) return loop.getInitArgs()[result.getResultNumber()];
  if (auto loop = llvm::dyn_cast<scf::WhileOp>(op); loop && hands_tensors_on(loop)) {
    return loop.getInits()[result.getResultNumber()];
  }
  return {};
}

// Where what a turn hands on lies: in what it was given, updated in place; in memory that this turn has got; or maybe
// in what another value was given.
enum class Origin { kGiven, kOfThisTurn, kOther };

// A home that was made beside `view`, which reads it.
bool is_of_this_turn(bufferization::ToTensorOp view) {
  auto home = view.getMemref().getDefiningOp<memref::AllocOp>();
  return home && home->getBlock() == view->getBlock();
}

Origin origin_of(Value value, Value given) {
  while (value != given) {
    const auto result = llvm::dyn_cast<mlir::OpResult>(value);
    if (!result) return Origin::kOther;
    if (llvm::isa<tensor::EmptyOp, tensor::FromElementsOp>(result.getOwner())) return Origin::kOfThisTurn;
    if (auto view = value.getDefiningOp<bufferization::ToTensorOp>()) {
      return is_of_this_turn(view) ? Origin::kOfThisTurn : Origin::kOther;
    }
    if (auto branch = llvm::dyn_cast<scf::IfOp>(result.getOwner())) {
      const unsigned place = result.getResultNumber();
      return std::max(origin_of(branch.thenYield().getOperand(place), given),
                      origin_of(branch.elseYield().getOperand(place), given));
    }
    value = written_operand(result);
    if (!value) return Origin::kOther;
  }
  return Origin::kGiven;
}

// The value whose memory `value` updates.
Value first_of(Value value) {
  while (const auto result = llvm::dyn_cast<mlir::OpResult>(value)) {
    const Value before = written_operand(result);
    if (!before) break;
    value = before;
  }
  return value;
}

// At the end of a turn: copies to homes. What may lie in the home of another one is copied out of it before any is
// written.
void write_homes(scf::YieldOp yield, mlir::ValueRange given, llvm::ArrayRef<Value> homes) {
  OpBuilder builder(yield);
  const Location location = yield.getLoc();
  SmallVector<Value> values(yield.getOperands()), others;
  for (auto [value, before, home] : llvm::zip_equal(values, given, homes)) {
    if (!home || origin_of(value, before) != Origin::kOther) continue;
    const auto type = llvm::cast<RankedTensorType>(value.getType());
    value = builder.create<bufferization::AllocTensorOp>(location, type, mlir::ValueRange(), value);
  }
  for (auto [value, home] : llvm::zip_equal(values, homes)) {
    if (home) {
      write_home(builder, location, value, home);
    } else {
      others.push_back(value);
    }
  }
  yield->setOperands(others);
}

// Homes of what begins with `firsts`. None for numbers, and for what each turn updates in place: bufferization finds its
// memory.
SmallVector<Value> make_homes(OpBuilder& builder, Location location, mlir::ValueRange firsts, mlir::ValueRange given,
                              scf::YieldOp yield) {
  SmallVector<Value> homes;
  for (auto [first, before, next] : llvm::zip_equal(firsts, given, yield.getOperands())) {
    const bool stays = !is_tensor(first) || (!has_own_memory(first) && origin_of(next, before) == Origin::kGiven);
    homes.push_back(stays ? Value() : make_home(builder, location, first));
  }
  return homes;
}

SmallVector<Value> without_homes(mlir::ValueRange values, llvm::ArrayRef<Value> homes) {
  SmallVector<Value> others;
  for (auto [i, value] : llvm::enumerate(values)) {
    if (i >= homes.size() || !homes[i]) others.push_back(value);
  }
  return others;
}

// What has a home comes out of it, the rest stays; the first argument is number `first` of `block`.
void read_homes(mlir::Block& block, unsigned first, llvm::ArrayRef<Value> homes) {
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  unsigned at = first;
  for (const Value home : homes) {
    if (!home) {
      ++at;
      continue;
    }
    mlir::BlockArgument argument = block.getArgument(at);
    argument.replaceAllUsesWith(read_home(builder, argument.getLoc(), home));
    block.eraseArgument(at);
  }
}

void replace_results(mlir::Operation* op, mlir::Operation* made, llvm::ArrayRef<Value> homes) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(made);
  unsigned other = 0;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    mlir::OpResult result = op->getResult(i);
    const bool has_home = i < homes.size() && homes[i];
    result.replaceAllUsesWith(has_home ? read_home(builder, op->getLoc(), homes[i]) : made->getResult(other++));
  }
  op->erase();
}

void give_homes(scf::ForOp loop) {
  if (!llvm::any_of(loop.getInitArgs(), is_tensor) || !has_known_sizes(loop.getInitArgs())) return;
  OpBuilder builder(loop);
  const Location location = loop.getLoc();
  auto yield = llvm::cast<scf::YieldOp>(loop.getBody()->getTerminator());
  const SmallVector<Value> homes = make_homes(builder, location, loop.getInitArgs(), loop.getRegionIterArgs(), yield);
  auto made = builder.create<scf::ForOp>(location, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                         without_homes(loop.getInitArgs(), homes));
  made.getRegion().takeBody(loop.getRegion());
  write_homes(yield, made.getBody()->getArguments().drop_front(), homes);
  read_homes(*made.getBody(), 1, homes);
  replace_results(loop, made, homes);
}

void give_homes(scf::WhileOp loop) {
  if (!llvm::any_of(loop.getInits(), is_tensor) || !has_known_sizes(loop.getInits()) || !hands_tensors_on(loop)) return;
  OpBuilder builder(loop);
  const Location location = loop.getLoc();
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Value> given(loop.getAfterArguments());
  given.resize(loop.getInits().size());  // By place: the place of a number is of no account.
  const SmallVector<Value> homes = make_homes(builder, location, loop.getInits(), given, loop.getYieldOp());
  SmallVector<Value> homes_behind(homes);
  homes_behind.resize(condition.getArgs().size());
  const SmallVector<Value> handed = without_homes(condition.getArgs(), homes_behind);
  condition.getArgsMutable().assign(handed);
  auto made = builder.create<scf::WhileOp>(location, mlir::ValueRange(handed).getTypes(),
                                           without_homes(loop.getInits(), homes));
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  write_homes(made.getYieldOp(), given, homes);
  read_homes(*made.getBeforeBody(), 0, homes);
  read_homes(*made.getAfterBody(), 0, homes_behind);
  replace_results(loop, made, homes_behind);
}

void give_homes(scf::IfOp branch) {
  if (!has_known_sizes(branch.getResults())) return;
  for (auto [result, value, other] :
       llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(), branch.elseYield().getOperands())) {
    if (!is_tensor(result) || first_of(value) == first_of(other)) continue;
    OpBuilder builder(branch);
    const auto type = llvm::cast<RankedTensorType>(result.getType());
    const Value home =
        builder.create<memref::AllocOp>(branch.getLoc(), mlir::MemRefType::get(type.getShape(), type.getElementType()));
    builder.setInsertionPointAfter(branch);
    result.replaceAllUsesWith(read_home(builder, branch.getLoc(), home));
    for (auto [yield, yielded] : {std::pair(branch.thenYield(), value), std::pair(branch.elseYield(), other)}) {
      builder.setInsertionPoint(yield);
      write_home(builder, branch.getLoc(), yielded, home);
    }
  }
}

// One of two tensors.
void select_by_branch(arith::SelectOp select) {
  OpBuilder builder(select);
  const auto give = [](Value value) {
    return [value](OpBuilder& branch, Location location) { branch.create<scf::YieldOp>(location, value); };
  };
  auto made = builder.create<scf::IfOp>(select.getLoc(), select.getCondition(), give(select.getTrueValue()),
                                        give(select.getFalseValue()));
  select.getResult().replaceAllUsesWith(made.getResult(0));
  select.erase();
}

// What `value` is a part or another shape of, within `region`.
Value viewed(Value value, mlir::Region& region) {
  mlir::Operation* op = value.getDefiningOp();
  while (op && region.isAncestor(op->getParentRegion()) &&
         (is_reshape(op) || llvm::isa<tensor::ExtractSliceOp, tensor::CastOp>(op))) {
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  return value;
}

// Each turn of a loop that inserts into what stood there before it inserts into a copy. Elimination of empty tensors would have what is
// inserted computed in that very memory, which the next turn reads.
void insert_into_copy(tensor::InsertSliceOp insert) {
  auto loop = insert->getParentOfType<mlir::LoopLikeOpInterface>();
  if (!loop) return;
  mlir::Region* region = insert->getParentRegion();
  while (region->getParentOp() != loop.getOperation()) region = region->getParentOp()->getParentRegion();
  if (region->isAncestor(viewed(insert.getDest(), *region).getParentRegion())) return;
  OpBuilder builder(insert);
  const auto type = llvm::cast<RankedTensorType>(insert.getDest().getType());
  if (!type.hasStaticShape()) return;
  const Value copy =
      builder.create<bufferization::AllocTensorOp>(insert.getLoc(), type, mlir::ValueRange(), insert.getDest());
  insert.getDestMutable().assign(copy);
}

}  // namespace

void give_branches_homes(mlir::ModuleOp kernels) {
  kernels.walk([](arith::SelectOp select) {
    if (is_tensor(select.getResult()) && select.getCondition().getType().isInteger(1)) select_by_branch(select);
  });
  kernels.walk([](scf::IfOp branch) {
    if (branch.elseBlock() && llvm::any_of(branch.getResults(), is_tensor)) give_homes(branch);
  });
}

bool hands_pointers_on(mlir::ModuleOp buffers) {
  const auto is_pointer = [](mlir::Type type) { return llvm::isa<mlir::MemRefType>(type); };
  return buffers
      .walk([&](mlir::Operation* op) {
        const bool found = llvm::isa<scf::IfOp, scf::ForOp, scf::WhileOp, arith::SelectOp>(op) &&
                           llvm::any_of(op->getResultTypes(), is_pointer);
        return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

void give_loops_homes(mlir::ModuleOp kernels) {
  SmallVector<mlir::Operation*> loops;
  // The outer ones first: what an inner one begins with may then be the home of what the outer one carries.
  kernels.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (llvm::isa<scf::ForOp, scf::WhileOp>(op)) loops.push_back(op);
  });
  SmallVector<tensor::InsertSliceOp> inserts;
  kernels.walk([&](tensor::InsertSliceOp insert) { inserts.push_back(insert); });
  for (tensor::InsertSliceOp insert : inserts) insert_into_copy(insert);
  for (mlir::Operation* loop : loops) {
    if (auto counted = llvm::dyn_cast<scf::ForOp>(loop)) {
      give_homes(counted);
    } else {
      give_homes(llvm::cast<scf::WhileOp>(loop));
    }
  }
}

}  // namespace baton::compiler_lite::codegen
