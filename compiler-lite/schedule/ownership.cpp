#include "compiler-lite/schedule/ownership.hpp"

#include <vector>

#include "compiler-lite/schedule/aliases.hpp"
#include "mlir/IR/Dominance.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using mlir::Block;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::Value;

// Updates in place.
void for_each_update(mlir::Region& body, const Aliases& aliases, llvm::function_ref<void(Operation*, Value)> take) {
  for (Block& block : body) {
    for (Operation& op : block) {
      for (const Value tensor : tied_operands(&op)) {
        if (aliases.may_overwrite(&op, tensor)) take(&op, tensor);
      }
    }
  }
}

// What hands a block its arguments.
SmallVector<Edge> edges_to(Block& block) {
  SmallVector<Edge> edges;
  for (auto each = block.pred_begin(); each != block.pred_end(); ++each) {
    edges.push_back({(*each)->getTerminator(), each.getSuccessorIndex()});
  }
  return edges;
}

// Finds, of the tensors that branches hand on, those that are owned: it begins with all and strikes out those that are
// not.
class Finder {
 public:
  Finder(const ScheduledFunction& function, util::FuncOp op)
      : function_(function), body_(op.getBody()), liveness_(op), dominance_(op) {
    // Blocks that no branch reaches make no tensors.
    if (!llvm::all_of(body_, [&](Block& block) { return dominance_.isReachableFromEntry(&block); })) return;
    for (Block& block : llvm::drop_begin(body_)) {
      for (const BlockArgument argument : block.getArguments()) {
        if (is_tensor(argument) && comes_by_branches(block)) owned_.insert(argument);
      }
    }
  }

  // What holds for the tensors that are left.
  Aliases run() {
    for (;;) {
      Aliases aliases(function_, liveness_, owned_);
      SmallVector<Value> struck;
      const llvm::DenseSet<Value> updated = find_updated(aliases);
      for (const Value argument : owned_) {
        if (!updated.contains(argument) || !can_be_owned(aliases, llvm::cast<BlockArgument>(argument))) {
          struck.push_back(argument);
        }
      }
      if (struck.empty()) return aliases;
      while (!struck.empty()) strike(struck.pop_back_val(), struck);
    }
  }

  const llvm::DenseSet<Value>& owned() const { return owned_; }

 private:
  static bool comes_by_branches(Block& block) {
    return !block.hasNoPredecessors() && llvm::all_of(edges_to(block), [](const Edge& edge) {
      auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(edge.branch);
      return branch && branch.getSuccessorOperands(edge.successor).getProducedOperandCount() == 0;
    });
  }

  // A branch that enters a loop may hand it a copy; one that goes on in it, or chooses, would copy in each turn.
  bool may_copy(const Edge& edge) {
    Block* const target = edge.target();
    const auto goes_on = [&](Block* from) { return dominance_.dominates(target, from); };
    return edge.branch->getNumSuccessors() == 1 && !goes_on(edge.branch->getBlock()) &&
           llvm::any_of(target->getPredecessors(), goes_on);
  }

  bool can_be_owned(const Aliases& aliases, BlockArgument argument) {
    return llvm::all_of(edges_to(*argument.getOwner()), [&](const Edge& edge) {
      return aliases.hands_over(edge, argument.getArgNumber()) || may_copy(edge);
    });
  }

  // Also strikes out the values that pass it on unchanged; otherwise a chain of branches would take a round for each.
  void strike(Value argument, SmallVector<Value>& struck) {
    if (!owned_.erase(argument)) return;
    for (mlir::OpOperand& use : argument.getUses()) {
      auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(use.getOwner());
      const auto next = branch ? branch.getSuccessorBlockArgument(use.getOperandNumber()) : std::nullopt;
      if (!next) continue;
      for (const Edge& edge : edges_to(*next->getOwner())) {
        if (edge.branch != branch || edge.operand(next->getArgNumber()) != argument || may_copy(edge)) continue;
        struck.push_back(*next);
      }
    }
  }

  // Arguments that an operation writes over, there or where they are handed on to.
  llvm::DenseSet<Value> find_updated(const Aliases& aliases) {
    llvm::DenseSet<Value> updated;
    SmallVector<Value> open;
    const auto add = [&](Value tensor) {
      const Value root = aliases.root(tensor);
      if (updated.insert(root).second && owned_.contains(root)) open.push_back(root);
    };
    for_each_update(body_, aliases, [&](Operation*, Value tensor) { add(tensor); });
    while (!open.empty()) {
      Value argument = open.pop_back_val();
      const unsigned number = llvm::cast<BlockArgument>(argument).getArgNumber();
      for (const Edge& edge : edges_to(*argument.getParentBlock())) {
        if (aliases.hands_over(edge, number)) add(edge.operand(number));
      }
    }
    return updated;
  }

  const ScheduledFunction& function_;
  mlir::Region& body_;
  mlir::Liveness liveness_;
  mlir::DominanceInfo dominance_;
  llvm::DenseSet<Value> owned_;
};

}  // namespace

Ownership::Ownership(const ScheduledFunction& function) {
  util::FuncOp op = function.op;
  mlir::Region& body = op.getBody();
  if (body.hasOneBlock()) return;
  Finder finder(function, op);
  const Aliases aliases = finder.run();
  owned_ = finder.owned();
  for_each_update(body, aliases, [&](Operation* update, Value tensor) {
    overwrites_.insert({update, tensor});
    if (overwritten_.contains(tensor)) return;
    overwritten_.insert(aliases.members(tensor).begin(), aliases.members(tensor).end());
  });
  for (Value argument : owned_) {
    const unsigned number = llvm::cast<BlockArgument>(argument).getArgNumber();
    for (const Edge& edge : edges_to(*argument.getParentBlock())) {
      if (aliases.hands_over(edge, number)) continue;
      auto branch = llvm::cast<mlir::BranchOpInterface>(edge.branch);
      copies_.insert({edge.branch, branch.getSuccessorOperands(edge.successor).getOperandIndex(number)});
    }
  }
}

}  // namespace baton::compiler_lite::schedule
