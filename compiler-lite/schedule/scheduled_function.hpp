// ScheduledFunction: the function whose tensors are taken out, and the builder that the rooms below write with.
//
// The rooms of one function, each may use those before it: scheduled_function, aliases and ownership (what may be written
// in place), places (where tensors lie), memory_bounds, gatherer (commands), flusher (recordings); then dispatches,
// tensor_ops, boundary and checks, which take the operations that function_scheduler meets.
#pragma once

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/bounds.hpp"
#include "compiler-lite/schedule/program.hpp"

namespace baton::compiler_lite::schedule {

class ScheduledFunction {
 public:
  ScheduledFunction(util::FuncOp as_op, Program& of_program)
      : op(as_op),
        program(of_program),
        hal(of_program.hal()),
        builder(as_op.getContext()),
        bounds(builder, of_program.hal()) {}
  ScheduledFunction(const ScheduledFunction&) = delete;

  // A device by its number, loaded where the function begins, when it is first asked for.
  mlir::Value device(unsigned number = 0);
  // That on which a tensor or a command is.
  unsigned number_of(mlir::Value tensor) const { return program.assignment().of(tensor); }
  unsigned number_of(mlir::Operation* command) const { return program.assignment().of(command); }

  util::FuncOp op;
  Program& program;
  HalCalls& hal;
  mlir::OpBuilder builder;  // Stands before the operation whose turn it is.
  Bounds bounds;

 private:
  llvm::SmallVector<mlir::Value> devices_;
};

}  // namespace baton::compiler_lite::schedule
