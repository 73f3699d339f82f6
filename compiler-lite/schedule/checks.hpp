// Checks: expectations of the dialect `check` on tensors, as calls of the module `check` with views of them.
#pragma once

#include <optional>

#include "compiler-lite/schedule/flusher.hpp"

namespace baton::compiler_lite::schedule {

class Checks {
 public:
  Checks(ScheduledFunction& function, Places& places, Flusher& flusher)
      : function_(function), hal_(function.hal), builder_(function.builder), places_(places), flusher_(flusher) {}

  // Nothing for an operation that is no expectation. The caller erases the others.
  std::optional<mlir::LogicalResult> schedule(mlir::Operation* op);

 private:
  mlir::LogicalResult expect(mlir::Operation* op, mlir::Value tensor, mlir::Attribute value);
  mlir::LogicalResult expect(mlir::Operation* op, mlir::Value given, mlir::Value wanted);
  mlir::Value view_of(mlir::Operation* user, mlir::Value tensor);
  mlir::Value view_of(mlir::Location location, mlir::Value buffer, mlir::Value bytes, int32_t number,
                      llvm::ArrayRef<mlir::Value> sizes);

  ScheduledFunction& function_;
  HalCalls& hal_;
  mlir::OpBuilder& builder_;
  Places& places_;
  Flusher& flusher_;
};

}  // namespace baton::compiler_lite::schedule
