// Boundary: where tensors come into a function and leave it, or go from block to block: buffer views, fences, arguments,
// calls, returns, branches.
#pragma once

#include <vector>

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/schedule/flusher.hpp"
#include "compiler-lite/schedule/memory_bounds.hpp"

namespace baton::compiler_lite::schedule {

class Boundary {
 public:
  Boundary(ScheduledFunction& function, Places& places, MemoryBounds& memory_bounds, Gatherer& gatherer,
           Flusher& flusher)
      : function_(function),
        hal_(function.hal),
        builder_(function.builder),
        places_(places),
        memory_bounds_(memory_bounds),
        gatherer_(gatherer),
        flusher_(flusher) {}

  // First: a tensor as an argument is its buffer and its sizes. Last, when nothing uses the tensors: the function's type.
  void convert_arguments(mlir::Block& block);
  void convert_signature();

  mlir::LogicalResult schedule_import(hal::TensorImportOp op);
  mlir::LogicalResult schedule_export(hal::TensorExportOp op);
  mlir::LogicalResult schedule_alias(hal::TensorAliasOp op);
  mlir::LogicalResult schedule_barrier(hal::TensorBarrierOp op);
  mlir::LogicalResult schedule_call(util::CallOp op);
  mlir::LogicalResult schedule_return(mlir::Operation* op);
  mlir::LogicalResult schedule_branch(mlir::Operation* op);

 private:
  std::pair<mlir::Value, mlir::Value> take(hal::TensorImportOp op, mlir::Value buffer);

  ScheduledFunction& function_;
  HalCalls& hal_;
  mlir::OpBuilder& builder_;
  Places& places_;
  MemoryBounds& memory_bounds_;
  Gatherer& gatherer_;
  Flusher& flusher_;
  std::vector<mlir::BlockArgument> dead_arguments_;
  // What the caller passed, by its buffer. A result that is there whole, in the same type, is the caller's view again.
  struct Passed {
    mlir::Value view;
    mlir::Type type;
  };
  llvm::DenseMap<mlir::Value, Passed> passed_;
};

}  // namespace baton::compiler_lite::schedule
