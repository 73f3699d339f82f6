// DispatchPointers: the pointers that a kernel's body gets, and loads from what they point to.
#pragma once

#include <cstdint>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::codegen::cpu {

class DispatchPointers {
 public:
  // Arguments of a body: environment, dispatch, workgroup, then the bindings.
  static constexpr unsigned kFirstBinding = 3;

  explicit DispatchPointers(mlir::func::FuncOp body) : body_(body) {}

  mlir::Value environment() { return body_.getArgument(0); }
  mlir::Value dispatch() { return body_.getArgument(1); }
  mlir::Value workgroup() { return body_.getArgument(2); }
  mlir::Value binding(unsigned ordinal) { return body_.getArgument(kFirstBinding + ordinal); }

  mlir::Value address(mlir::OpBuilder& builder, mlir::Location location, mlir::Value base, uint64_t byte_offset);
  mlir::Value load(mlir::OpBuilder& builder, mlir::Location location, mlir::Value base, uint64_t byte_offset,
                   mlir::Type type);
  mlir::Value load_pointer(mlir::OpBuilder& builder, mlir::Location location, mlir::Value base, uint64_t byte_offset);
  // A u32 as an index.
  mlir::Value load_index(mlir::OpBuilder& builder, mlir::Location location, mlir::Value base, uint64_t byte_offset);

 private:
  mlir::func::FuncOp body_;
};

}  // namespace baton::compiler_lite::codegen::cpu
