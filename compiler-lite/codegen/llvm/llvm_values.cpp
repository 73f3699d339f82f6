#include "compiler-lite/codegen/llvm/llvm_values.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen {

namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

Value make_i32(OpBuilder& builder, Location location, int64_t value) {
  return builder.create<LLVM::ConstantOp>(location, builder.getI32Type(),
                                          builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value make_i64(OpBuilder& builder, Location location, int64_t value) {
  return builder.create<LLVM::ConstantOp>(location, builder.getI64Type(), builder.getI64IntegerAttr(value));
}

Value cast(OpBuilder& builder, Location location, Value value, mlir::Type type) {
  if (value.getType() == type) return value;
  return builder.create<mlir::UnrealizedConversionCastOp>(location, type, value).getResult(0);
}

Value constant_in_word(OpBuilder& builder, mlir::Operation* op, Value word) {
  const mlir::Type type = op->getResult(0).getType();
  if (type == word.getType()) return word;
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 32) {
    op->emitError("The constant has type ") << type << "; a constant is one word of 32 bits.";
    return {};
  }
  const mlir::Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (bits != word.getType()) word = builder.create<mlir::arith::TruncIOp>(op->getLoc(), bits, word);
  return bits == type ? word : builder.create<mlir::arith::BitcastOp>(op->getLoc(), type, word);
}

}  // namespace baton::compiler_lite::codegen
