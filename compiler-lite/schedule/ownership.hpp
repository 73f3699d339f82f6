// Ownership: which tensors of a function of several blocks may be written in place, found before the walk over it.
//
// Branches hand tensors from block to block as buffers. An argument of a block is owned when each branch hands it memory that
// no operation reads or writes under another name afterwards. Then an update of the argument may write over it: a loop that stacks
// rows copies none of those that are there. A loop that begins with memory of another's begins with a copy of it.
//
// Aliases: the tensors in one memory, a tree whose root is the tensor that the memory was made for. An alias lives until the
// last use of each of its tensors. In doubt a tensor is not owned, and its update copies it.
#pragma once

#include "compiler-lite/schedule/scheduled_function.hpp"
#include "llvm/ADT/DenseSet.h"

namespace baton::compiler_lite::schedule {

class Ownership {
 public:
  // Of a function whose tensors are all there still.
  explicit Ownership(const ScheduledFunction& function);

  bool owns(mlir::BlockArgument argument) const { return owned_.contains(argument); }
  // Whether `op` may write over the memory of its operand.
  bool may_overwrite(mlir::Operation* op, mlir::Value tensor) const { return overwrites_.contains({op, tensor}); }
  // Whether some operation writes over the memory of this tensor, so that it waits for all commands that use it.
  bool is_overwritten(mlir::Value tensor) const { return overwritten_.contains(tensor); }
  // Whether a branch hands on a copy of this operand.
  bool hands_copy(mlir::Operation* branch, unsigned operand) const { return copies_.contains({branch, operand}); }

 private:
  llvm::DenseSet<mlir::Value> owned_;
  llvm::DenseSet<std::pair<mlir::Operation*, mlir::Value>> overwrites_;
  llvm::DenseSet<mlir::Value> overwritten_;
  llvm::DenseSet<std::pair<mlir::Operation*, unsigned>> copies_;
};

}  // namespace baton::compiler_lite::schedule
