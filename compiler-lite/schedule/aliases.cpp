#include "compiler-lite/schedule/aliases.hpp"

#include "compiler-lite/dialects/check/dialect.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "llvm/ADT/PostOrderIterator.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/RegionGraphTraits.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Block;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;

// For each result the operand whose memory it continues, or null.
template <typename Op>
SmallVector<Value> ties_of(Op op) {
  SmallVector<Value> ties(op->getNumResults());
  const mlir::ArrayAttr numbers = op.getTiedOperandsAttr();
  for (unsigned i = 0; numbers && i < numbers.size() && i < ties.size(); ++i) {
    const int64_t number = llvm::cast<mlir::IntegerAttr>(numbers[i]).getInt();
    if (number >= 0) ties[i] = op.getArguments()[static_cast<unsigned>(number)];
  }
  return ties;
}

SmallVector<Value> ties_of_results(Operation* op) {
  if (auto insert = llvm::dyn_cast<tensor::InsertSliceOp>(op)) return {insert.getDest()};
  if (auto dispatch = llvm::dyn_cast<flow::DispatchOp>(op)) return ties_of(dispatch);
  if (auto call = llvm::dyn_cast<flow::CallOp>(op)) return ties_of(call);
  return {};
}

// Operations that give their operands' memory to no one but the results that they make of it here.
bool keeps_operands(Operation* op) {
  return is_view(op) || llvm::isa_and_nonnull<check::CheckDialect>(op->getDialect()) ||
         llvm::isa<tensor::InsertSliceOp, tensor::ExtractOp, tensor::DimOp, tensor::EmptyOp, tensor::FromElementsOp,
                   mlir::linalg::FillOp, flow::DispatchOp, flow::CallOp, flow::TensorTransferOp,
                   util::OptimizationBarrierOp, hal::TensorAliasOp>(op);
}

}  // namespace

bool is_view(Operation* op) {
  return llvm::isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                   tensor::ReshapeOp, tensor::BitcastOp>(op);
}

SmallVector<Value> tied_operands(Operation* op) {
  SmallVector<Value> different;
  for (const Value tensor : ties_of_results(op)) {
    if (tensor && is_tensor(tensor) && !llvm::is_contained(different, tensor)) different.push_back(tensor);
  }
  return different;
}

SmallVector<Value> Edge::tensors() const {
  SmallVector<Value> tensors;
  auto interface = llvm::dyn_cast<mlir::BranchOpInterface>(branch);
  if (!interface) return tensors;
  for (const Value value : interface.getSuccessorOperands(successor).getForwardedOperands()) {
    if (is_tensor(value)) tensors.push_back(value);
  }
  return tensors;
}

// What dominates comes first, so that each tensor comes behind what it is made of.
Aliases::Aliases(const ScheduledFunction& function, const mlir::Liveness& liveness, const llvm::DenseSet<Value>& owned)
    : function_(function), liveness_(liveness) {
  util::FuncOp op = function.op;
  mlir::Region& body = op.getBody();
  const llvm::ReversePostOrderTraversal<Block*> order(&body.front());
  for (Block* block : order) {
    for (const BlockArgument argument : block->getArguments()) {
      if (is_tensor(argument)) add_root(argument, owned.contains(argument));
    }
    for (Operation& each : *block) add_results(&each);
  }
  for (Block* block : order) {
    for (Operation& each : *block) add_escapes(&each);
    add_branch(block->getTerminator(), owned);
  }
}

void Aliases::add_root(Value tensor, bool owned) {
  numbers_[tensor] = static_cast<unsigned>(classes_.size());
  classes_.push_back({owned, {tensor}});
}

void Aliases::add_alias(Value tensor, Value of, bool is_part) {
  const unsigned number = class_of(of);
  numbers_[tensor] = number;
  classes_[number].members.push_back(tensor);
  made_of_[tensor] = of;
  if (is_part || parts_.contains(of)) parts_.insert(tensor);
}

// What is updated in place continues the memory; in place of another's memory there is a copy.
void Aliases::add_updated(Value result, Value tensor) {
  if (is_owned_at(tensor, result.getDefiningOp()->getBlock())) return add_alias(result, tensor, false);
  add_root(result, true);
}

void Aliases::add_results(Operation* op) {
  const SmallVector<Value> ties = ties_of_results(op);
  for (const mlir::OpResult result : op->getResults()) {
    if (!is_tensor(result)) continue;
    const unsigned i = result.getResultNumber();
    if (i < ties.size() && ties[i]) {
      add_updated(result, ties[i]);
    } else if (is_view(op)) {
      add_alias(result, op->getOperand(0), llvm::isa<tensor::ExtractSliceOp>(op));
    } else if (llvm::isa<util::OptimizationBarrierOp>(op)) {
      add_alias(result, op->getOperand(i), false);
    } else if (auto transfer = llvm::dyn_cast<flow::TensorTransferOp>(op)) {
      const Value source = transfer.getOperand();
      if (function_.number_of(source) == function_.number_of(result)) {
        add_alias(result, source, false);
      } else {
        add_root(result, true);
      }
    } else if (auto import = llvm::dyn_cast<hal::TensorImportOp>(op)) {
      add_root(result, import.getConsume());
      if (import.getOffset()) parts_.insert(result);
    } else {
      add_root(result, llvm::isa<tensor::EmptyOp, mlir::linalg::FillOp, flow::DispatchOp, flow::CallOp>(op));
    }
  }
}

void Aliases::add_escapes(Operation* op) {
  if (keeps_operands(op) || llvm::isa<mlir::BranchOpInterface>(op)) return;
  for (const Value operand : op->getOperands()) {
    if (is_tensor(operand)) classes_[class_of(operand)].escapes.push_back(op);
  }
}

// Handed to an argument that isn't owned, a memory has another name; it escapes if it is used under its old one, too.
void Aliases::add_branch(Operation* branch, const llvm::DenseSet<Value>& owned) {
  for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
    const Edge edge{branch, i};
    auto interface = llvm::dyn_cast<mlir::BranchOpInterface>(branch);
    const SmallVector<Value> tensors = edge.tensors();
    for (const Value tensor : tensors) {
      Class& all = classes_[class_of(tensor)];
      const auto shares = [&](Value other) { return class_of(other) == class_of(tensor); };
      bool to_other = !interface;
      for (const BlockArgument argument : edge.target()->getArguments()) {
        if (interface && is_tensor(argument) && edge.operand(argument.getArgNumber()) == tensor) {
          to_other |= !owned.contains(argument);
        }
      }
      if (to_other && (llvm::count_if(tensors, shares) > 1 || lives_at_begin(all, edge.target()))) {
        all.escapes.push_back(branch);
      }
    }
  }
}

// A tensor.empty gets its memory in the block where it stands, when something writes it there.
bool Aliases::is_owned_at(Value tensor, Block* block) const {
  const Class& all = classes_[class_of(tensor)];
  Value root = all.members.front();
  return all.owned && (!root.getDefiningOp<tensor::EmptyOp>() || root.getParentBlock() == block);
}

bool Aliases::lives_at_begin(const Class& all, Block* block) const {
  const mlir::Liveness::ValueSetT& live = liveness_.getLiveIn(block);
  return llvm::any_of(all.members, [&](Value member) { return live.contains(member); });
}

// Whether an operation that gave the memory away may have run for the same memory. Where the root is made anew, the memory
// is another one, or came from a branch that had it alone.
bool Aliases::escaped_before(const Class& all, Operation* op) const {
  Value root = all.members.front();
  Block* const begin = root.getParentBlock();
  Block* const wanted = op->getBlock();
  for (Operation* escape : all.escapes) {
    if (escape->getBlock() == wanted && (escape == op || escape->isBeforeInBlock(op))) return true;
    llvm::SmallPtrSet<Block*, 16> seen = {begin};
    SmallVector<Block*> open = {escape->getBlock()};
    while (!open.empty()) {
      for (Block* next : open.pop_back_val()->getSuccessors()) {
        if (!seen.insert(next).second) continue;
        if (next == wanted) return true;
        open.push_back(next);
      }
    }
  }
  return false;
}

bool Aliases::may_overwrite(Operation* op, Value tensor) const {
  if (!is_owned_at(tensor, op->getBlock())) return false;
  const Class& all = classes_[class_of(tensor)];
  const auto shares = [&](Value other) { return is_tensor(other) && class_of(other) == class_of(tensor); };
  if (llvm::count_if(op->getOperands(), shares) != 1) return false;
  const mlir::Liveness::ValueSetT& live = liveness_.getLiveOut(op->getBlock());
  llvm::DenseSet<Value> after;  // Tensors that hold the update.
  for (const Value member : all.members) {
    if (member.getDefiningOp() == op || after.contains(made_of_.lookup(member))) {
      after.insert(member);
      continue;
    }
    if (live.contains(member)) return false;
    for (Operation* user : member.getUsers()) {
      Operation* const here = op->getBlock()->findAncestorOpInBlock(*user);
      if (here && op->isBeforeInBlock(here)) return false;
    }
  }
  return !escaped_before(all, op);
}

bool Aliases::hands_over(const Edge& edge, unsigned argument) const {
  const Value tensor = edge.operand(argument);
  if (!is_owned_at(tensor, edge.branch->getBlock()) || parts_.contains(tensor)) return false;
  const Class& all = classes_[class_of(tensor)];
  const auto shares = [&](Value other) { return class_of(other) == class_of(tensor); };
  if (llvm::count_if(edge.tensors(), shares) != 1 || lives_at_begin(all, edge.target())) return false;
  return !escaped_before(all, edge.branch);
}

}  // namespace baton::compiler_lite::schedule
