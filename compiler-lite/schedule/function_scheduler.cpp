// The walk over a function, and which room takes which operation.
#include "compiler-lite/schedule/function_scheduler.hpp"

#include "compiler-lite/dialects/check/dialect.hpp"
#include "compiler-lite/schedule/boundary.hpp"
#include "compiler-lite/schedule/checks.hpp"
#include "compiler-lite/schedule/dispatches.hpp"
#include "compiler-lite/schedule/empties.hpp"
#include "compiler-lite/schedule/hal_ops.hpp"
#include "compiler-lite/schedule/tensor_ops.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/ADT/PostOrderIterator.h"
#include "mlir/IR/RegionGraphTraits.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;

class FunctionScheduler {
 public:
  FunctionScheduler(util::FuncOp function, Program& program)
      : function_(function, program),
        places_(function_),
        memory_bounds_(function_, places_),
        gatherer_(places_, program.devices().count()),
        flusher_(function_, places_, gatherer_),
        dispatches_(function_, places_, memory_bounds_, gatherer_),
        tensor_ops_(function_, places_, memory_bounds_, gatherer_, flusher_),
        boundary_(function_, places_, memory_bounds_, gatherer_, flusher_),
        checks_(function_, places_, flusher_) {}

  LogicalResult run();

 private:
  LogicalResult schedule(Operation* op);
  LogicalResult schedule_tensor_op(Operation* op);

  ScheduledFunction function_;
  Places places_;
  MemoryBounds memory_bounds_;
  Gatherer gatherer_;
  Flusher flusher_;
  Dispatches dispatches_;
  TensorOps tensor_ops_;
  Boundary boundary_;
  Checks checks_;
  std::vector<Operation*> dead_;
};

LogicalResult FunctionScheduler::run() {
  mlir::Region& body = function_.op.getBody();
  for (mlir::Block& block : body) boundary_.convert_arguments(block);
  // What dominates comes first.
  for (mlir::Block* block : llvm::ReversePostOrderTraversal<mlir::Block*>(&body.front())) {
    places_.begin_block();
    SmallVector<Operation*> operations;
    for (Operation& op : *block) operations.push_back(&op);
    for (Operation* op : operations) {
      function_.builder.setInsertionPoint(op);
      if (failed(schedule(op))) return failure();
      places_.note_scheduled(op);
    }
  }
  for (Operation* op : llvm::reverse(dead_)) {
    op->dropAllUses();
    op->erase();
  }
  boundary_.convert_signature();
  return success();
}

LogicalResult FunctionScheduler::schedule(Operation* op) {
  if (op->getNumRegions() != 0 && contains_tensors(op) && !llvm::isa<mlir::linalg::LinalgOp>(op)) {
    return op->emitOpError("holds operations on tensors, which can't be scheduled inside of it");
  }
  if (op->hasTrait<mlir::OpTrait::IsTerminator>()) {
    return llvm::isa<util::ReturnOp>(op) ? boundary_.schedule_return(op) : boundary_.schedule_branch(op);
  }
  if (has_tensors(op) || llvm::isa<hal::TensorBarrierOp>(op)) {
    dead_.push_back(op);
    return schedule_tensor_op(op);
  }
  if (write_hal_op(function_, op)) dead_.push_back(op);
  return success();
}

LogicalResult FunctionScheduler::schedule_tensor_op(Operation* op) {
  if (auto call = llvm::dyn_cast<util::CallOp>(op)) return boundary_.schedule_call(call);
  if (auto import = llvm::dyn_cast<hal::TensorImportOp>(op)) return boundary_.schedule_import(import);
  if (auto exported = llvm::dyn_cast<hal::TensorExportOp>(op)) return boundary_.schedule_export(exported);
  if (auto barrier = llvm::dyn_cast<hal::TensorBarrierOp>(op)) return boundary_.schedule_barrier(barrier);
  if (auto alias = llvm::dyn_cast<hal::TensorAliasOp>(op)) return boundary_.schedule_alias(alias);
  if (auto dispatch = llvm::dyn_cast<flow::DispatchOp>(op)) return dispatches_.schedule(dispatch);
  if (auto call = llvm::dyn_cast<flow::CallOp>(op)) return dispatches_.schedule(call);
  if (const std::optional<LogicalResult> scheduled = tensor_ops_.schedule(op)) return *scheduled;
  if (const std::optional<LogicalResult> scheduled = checks_.schedule(op)) return *scheduled;
  return op->emitOpError(
      "on tensors can't be scheduled; arith, math, linalg, tensor, flow and hal are what is supported");
}

}  // namespace

LogicalResult schedule_function(util::FuncOp function, Program& program) {
  split_empties(function);
  return FunctionScheduler(function, program).run();
}

}  // namespace baton::compiler_lite::schedule
