// Aliases: the tensors of a function that are in one memory, if certain arguments of blocks are owned.
//
// Each class is a tree. Its root is the tensor that the memory was made for, or an argument of a block. An operation that
// updates an owned tensor is taken to do so in place; one that updates another's makes new memory. `ownership.hpp` asks.
#pragma once

#include <vector>

#include "compiler-lite/schedule/scheduled_function.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Analysis/Liveness.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace baton::compiler_lite::schedule {

// The same elements in the same place under another type: those of the first operand.
bool is_view(mlir::Operation* op);

// Operands whose memory results continue, if they may: where an insert_slice writes, what a dispatch ties.
llvm::SmallVector<mlir::Value> tied_operands(mlir::Operation* op);

// A way from block to block.
struct Edge {
  mlir::Operation* branch;
  unsigned successor;

  mlir::Block* target() const { return branch->getSuccessor(successor); }
  mlir::Value operand(unsigned argument) const {
    return llvm::cast<mlir::BranchOpInterface>(branch).getSuccessorOperands(successor)[argument];
  }
  llvm::SmallVector<mlir::Value> tensors() const;
};

class Aliases {
 public:
  Aliases(const ScheduledFunction& function, const mlir::Liveness& liveness, const llvm::DenseSet<mlir::Value>& owned);

  mlir::Value root(mlir::Value tensor) const { return classes_[class_of(tensor)].members.front(); }
  llvm::ArrayRef<mlir::Value> members(mlir::Value tensor) const { return classes_[class_of(tensor)].members; }
  // Whether `op` may write over the tensor: no other tensor is in its memory, and no operation reads it later.
  bool may_overwrite(mlir::Operation* op, mlir::Value tensor) const;
  // Whether the argument gets memory in which no other tensor is, or is used later.
  bool hands_over(const Edge& edge, unsigned argument) const;

 private:
  struct Class {
    bool owned;
    llvm::SmallVector<mlir::Value> members = {};       // The root first, each after the value that it is made of.
    llvm::SmallVector<mlir::Operation*> escapes = {};  // Operations behind which others may have the memory, too.
  };

  unsigned class_of(mlir::Value tensor) const { return numbers_.lookup(tensor); }
  void add_root(mlir::Value tensor, bool owned);
  void add_alias(mlir::Value tensor, mlir::Value of, bool is_part);
  void add_results(mlir::Operation* op);
  void add_updated(mlir::Value result, mlir::Value tensor);
  void add_branch(mlir::Operation* branch, const llvm::DenseSet<mlir::Value>& owned);
  void add_escapes(mlir::Operation* op);
  bool is_owned_at(mlir::Value tensor, mlir::Block* block) const;
  bool lives_at_begin(const Class& all, mlir::Block* block) const;
  bool escaped_before(const Class& all, mlir::Operation* op) const;

  const ScheduledFunction& function_;
  const mlir::Liveness& liveness_;
  std::vector<Class> classes_;
  llvm::DenseMap<mlir::Value, unsigned> numbers_;
  llvm::DenseMap<mlir::Value, mlir::Value> made_of_;
  llvm::DenseSet<mlir::Value> parts_;  // Not all of their memory.
};

}  // namespace baton::compiler_lite::schedule
