#include "compiler-lite/codegen/llvm/linked_calls.hpp"

#include "compiler-lite/codegen/imports.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// C callees expect small integers to be extended by the caller: truth values with zeros, others with their sign.
void extend_small_integers(LLVM::LLVMFuncOp function) {
  const mlir::UnitAttr unit = mlir::UnitAttr::get(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const auto type = llvm::dyn_cast<mlir::IntegerType>(function.getArgumentTypes()[i]);
    if (!type || type.getWidth() >= 32) continue;
    function.setArgAttr(i, type.getWidth() == 1 ? "llvm.zeroext" : "llvm.signext", unit);
  }
}

}  // namespace

mlir::FailureOr<llvm::SmallVector<Value>> flatten_operands(OpBuilder& builder, mlir::func::CallOp call,
                                                           bool bare_pointers, const mlir::LLVMTypeConverter& types) {
  const Location location = call.getLoc();
  llvm::SmallVector<Value> values;
  for (const Value operand : call.getOperands()) {
    const mlir::Type type = types.convertType(operand.getType());
    if (!type || llvm::isa<mlir::UnrankedMemRefType, mlir::TensorType>(operand.getType())) {
      return call.emitError("The call of '") << call.getCallee() << "' passes a value of type " << operand.getType()
                                             << "; functions outside of the kernel take memrefs and scalars.";
    }
    const Value value = cast(builder, location, operand, type);
    const auto memref = llvm::dyn_cast<mlir::MemRefType>(operand.getType());
    if (!memref) {
      values.push_back(value);
    } else if (bare_pointers) {
      values.push_back(mlir::MemRefDescriptor(value).alignedPtr(builder, location));
    } else {
      mlir::MemRefDescriptor::unpack(builder, location, value, memref, values);
    }
  }
  return values;
}

mlir::LogicalResult call_linked(OpBuilder& builder, mlir::func::CallOp call, mlir::func::FuncOp declaration,
                                llvm::ArrayRef<Value> operands, const mlir::LLVMTypeConverter& types) {
  if (call.getNumResults() > 1) {
    return call.emitError("The call of '")
           << call.getCallee() << "' has " << call.getNumResults() << " results; a C function has at most one.";
  }
  const Location location = call.getLoc();
  mlir::Type result = LLVM::LLVMVoidType::get(builder.getContext());
  if (call.getNumResults() == 1) result = types.convertType(call.getResult(0).getType());
  llvm::SmallVector<mlir::Type> parameters;
  for (const Value operand : operands) parameters.push_back(operand.getType());
  const auto type = LLVM::LLVMFunctionType::get(result, parameters);

  const std::string symbol = import_symbol_of(declaration);
  auto module = call->getParentOfType<mlir::ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!function) {
    OpBuilder at_start = OpBuilder::atBlockBegin(module.getBody());
    function = at_start.create<LLVM::LLVMFuncOp>(declaration.getLoc(), symbol, type);
    extend_small_integers(function);
  } else if (function.getFunctionType() != type) {
    return call.emitError("The call of '")
           << symbol << "' passes " << type << "; another call passes " << function.getFunctionType() << ".";
  }
  auto linked = builder.create<LLVM::CallOp>(location, function, operands);
  replace_results(builder, call, llvm::SmallVector<Value>(linked.getResults()));
  return mlir::success();
}

void replace_results(OpBuilder& builder, mlir::func::CallOp call, llvm::ArrayRef<Value> results) {
  for (unsigned i = 0; i < call.getNumResults(); ++i) {
    call.getResult(i).replaceAllUsesWith(cast(builder, call.getLoc(), results[i], call.getResult(i).getType()));
  }
  call.erase();
}

}  // namespace baton::compiler_lite::codegen
