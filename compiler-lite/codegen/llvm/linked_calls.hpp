// Calls of functions that are linked with a kernel, as C calls.
//
// A memref becomes one pointer when the declaration says llvm.bareptr, else its fields in order: allocated pointer,
// aligned pointer, offset, sizes, strides. index becomes i64.
#pragma once

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::codegen {

// What `call` passes, in LLVM's types.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> flatten_operands(mlir::OpBuilder& builder, mlir::func::CallOp call,
                                                                 bool bare_pointers,
                                                                 const mlir::LLVMTypeConverter& types);
// Replaces `call` by a call of the symbol that `declaration` stands for.
mlir::LogicalResult call_linked(mlir::OpBuilder& builder, mlir::func::CallOp call, mlir::func::FuncOp declaration,
                                llvm::ArrayRef<mlir::Value> operands, const mlir::LLVMTypeConverter& types);
// Replaces `call` by its results in LLVM's types.
void replace_results(mlir::OpBuilder& builder, mlir::func::CallOp call, llvm::ArrayRef<mlir::Value> results);

}  // namespace baton::compiler_lite::codegen
