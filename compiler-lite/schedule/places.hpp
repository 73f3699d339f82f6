// Places: where the tensors of a function lie. Each is a place in a memory: a buffer, an offset, sizes.
//
// In flight, a memory has the fence that says when it is ready; no fence means that it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler-lite/schedule/ownership.hpp"
#include "compiler-lite/schedule/scheduled_function.hpp"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace baton::compiler_lite::schedule {

struct Memory {
  mlir::Value buffer = {};  // Null while the commands that make it are gathered.
  mlir::Value fence = {};
  mlir::Value bytes = {};
  std::string constant_global = {};
  unsigned device = 0;     // By its number.
  bool owned = false;      // Only this function sees it.
  bool pending = false;    // Made by gathered commands.
  bool handed_on = false;  // By a branch, without a tensor that has it.
  int storage = -1;        // In what is gathered.
  std::vector<mlir::Value> tensors = {};
  std::string name = {};
};

struct Place {
  Memory* memory = nullptr;
  mlir::Value offset = {};                    // Null: 0.
  llvm::SmallVector<mlir::Value> sizes = {};  // One for each dimension that the type leaves open.
};

class Places {
 public:
  explicit Places(ScheduledFunction& function)
      : function_(function), hal_(function.hal), builder_(function.builder), ownership_(function) {}

  Memory* make_memory(std::string name, unsigned device);
  // Memory that commands will make for a result of `op`.
  Memory* make_pending(mlir::Operation* op, mlir::Value bytes);
  void place(mlir::Value tensor, Place place);
  Place& of(mlir::Value tensor);
  // The place of a tensor that is all of a buffer; not yet the tensor's.
  Place external(mlir::Location location, mlir::Value tensor, mlir::Value buffer, llvm::ArrayRef<mlir::Value> sizes);

  // With those that the type knows.
  llvm::SmallVector<mlir::Value> all_sizes(mlir::Location location, mlir::Value tensor);
  mlir::Value bytes_of(mlir::Location location, mlir::Type type, mlir::ValueRange sizes);
  mlir::Value element_offset(mlir::Location location, mlir::Value tensor, mlir::ValueRange indices);

  const Ownership& ownership() const { return ownership_; }
  // What other blocks began has been waited for. Tensors that they gave away may be here still on another way.
  void begin_block();

  // What happens later: operations that are scheduled have had their turn.
  void note_scheduled(mlir::Operation* op) { scheduled_.insert(op); }
  bool used_later(const Memory& memory) const;
  // Whether a branch has to wait for what uses it: its block, or one that it leads to, reads what was written, or writes.
  bool outlives_block(const Memory& memory) const;
  // Whether `op` may write over the tensor's memory: nothing else reads it later.
  bool may_overwrite(mlir::Operation* op, mlir::Value tensor);

  const std::vector<std::unique_ptr<Memory>>& memories() const { return memories_; }

 private:
  ScheduledFunction& function_;
  HalCalls& hal_;
  mlir::OpBuilder& builder_;
  const Ownership ownership_;
  std::vector<std::unique_ptr<Memory>> memories_;
  llvm::DenseMap<mlir::Value, Place> places_;
  llvm::DenseSet<mlir::Operation*> scheduled_;
};

}  // namespace baton::compiler_lite::schedule
