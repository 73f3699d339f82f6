// Dispatches: operations that become commands of a kernel's: dispatches and custom commands, their grids, constants, and
// the memory of their results.
#pragma once

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/schedule/gatherer.hpp"
#include "compiler-lite/schedule/memory_bounds.hpp"

namespace baton::compiler_lite::schedule {

class Dispatches {
 public:
  Dispatches(ScheduledFunction& function, Places& places, MemoryBounds& memory_bounds, Gatherer& gatherer)
      : function_(function),
        hal_(function.hal),
        builder_(function.builder),
        places_(places),
        memory_bounds_(memory_bounds),
        gatherer_(gatherer) {}

  mlir::LogicalResult schedule(flow::DispatchOp op);
  mlir::LogicalResult schedule(flow::CallOp op);

 private:
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> inline_workgroup_count(flow::DispatchOp op, mlir::Block& body);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> own_grid_of(flow::DispatchOp op, const EntryPoint& entry);
  mlir::FailureOr<mlir::Value> condition_of(flow::DispatchOp op, const EntryPoint& entry);
  mlir::LogicalResult grid_of(flow::DispatchOp op, const EntryPoint& entry, Command& command);
  mlir::LogicalResult require_word(flow::DispatchOp op, mlir::Value value, bool has_sign);
  mlir::LogicalResult constants_of(flow::DispatchOp op, const EntryPoint& entry, Command& command);

  void add_library_calls(flow::DispatchOp op, Command& command);  // library_commands.cpp
  Place place_for(flow::DispatchOp op, const EntryPoint& entry, const Place& place, mlir::Value tensor);

  // Operands that a result continues, by number: the result takes the operand's binding.
  using Ties = llvm::DenseMap<unsigned, Place>;
  template <typename Op>
  Ties ties_of(Op op);
  // Gives each result its place: its tied operand's, or memory of its own, whose range goes to `add_range`. `giver` is
  // for messages.
  template <typename Op, typename AddRange>
  mlir::LogicalResult place_results(Op op, llvm::StringRef giver, const Ties& ties, AddRange&& add_range);

  ScheduledFunction& function_;
  HalCalls& hal_;
  mlir::OpBuilder& builder_;
  Places& places_;
  MemoryBounds& memory_bounds_;
  Gatherer& gatherer_;
};

}  // namespace baton::compiler_lite::schedule
