// ExternalCalls: calls of declared functions in a kernel's body, as C calls or through the import table (imports.hpp).
//
// How operands are passed, linked_calls.hpp says.
#pragma once

#include "compiler-lite/codegen/cpu/dispatch_pointers.hpp"
#include "compiler-lite/codegen/imports.hpp"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

namespace baton::compiler_lite::codegen::cpu {

class ExternalCalls {
 public:
  ExternalCalls(mlir::func::FuncOp body, const ImportTable& imports, const mlir::LLVMTypeConverter& types,
                DispatchPointers& pointers)
      : body_(body), imports_(imports), types_(types), pointers_(pointers) {}

  // Calls of functions with a body stay as they are.
  mlir::LogicalResult lower(mlir::func::CallOp call);

 private:
  // Whether an optional import was found.
  mlir::LogicalResult answer(mlir::OpBuilder& builder, mlir::func::CallOp call, mlir::func::FuncOp declaration);
  mlir::LogicalResult call_import(mlir::OpBuilder& builder, mlir::func::CallOp call, mlir::func::FuncOp declaration,
                                  llvm::ArrayRef<mlir::Value> operands);
  mlir::LogicalResult append_fields(mlir::OpBuilder& builder, mlir::func::FuncOp declaration,
                                    llvm::SmallVectorImpl<mlir::Value>& values);
  void return_unless_zero(mlir::OpBuilder& builder, mlir::Location location, mlir::Value status, mlir::Operation* call);

  mlir::func::FuncOp body_;
  const ImportTable& imports_;
  const mlir::LLVMTypeConverter& types_;
  DispatchPointers& pointers_;
};

}  // namespace baton::compiler_lite::codegen::cpu
