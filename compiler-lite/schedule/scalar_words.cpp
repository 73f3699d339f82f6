#include "compiler-lite/schedule/scalar_words.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;

unsigned word_count(Type type) {
  if (llvm::isa<mlir::IndexType>(type)) return 1;
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64) return 0;
  return type.getIntOrFloatBitWidth() > 32 ? 2 : 1;
}

llvm::SmallVector<Value> pack_words(OpBuilder& builder, Location location, Value value) {
  const Type i32 = builder.getI32Type();
  if (llvm::isa<mlir::IndexType>(value.getType())) {
    return {builder.createOrFold<arith::IndexCastOp>(location, i32, value)};
  }
  const unsigned width = value.getType().getIntOrFloatBitWidth();
  if (llvm::isa<mlir::FloatType>(value.getType())) {
    value = builder.createOrFold<arith::BitcastOp>(location, builder.getIntegerType(width), value);
  }
  if (width == 32) return {value};
  if (width < 32) return {builder.createOrFold<arith::ExtUIOp>(location, i32, value)};
  if (width < 64) value = builder.createOrFold<arith::ExtUIOp>(location, builder.getI64Type(), value);
  const Value shift = builder.create<arith::ConstantIntOp>(location, 32, builder.getI64Type());
  const Value high = builder.createOrFold<arith::ShRUIOp>(location, value, shift);
  return {builder.createOrFold<arith::TruncIOp>(location, i32, value),
          builder.createOrFold<arith::TruncIOp>(location, i32, high)};
}

Value unpack_words(OpBuilder& builder, Location location, mlir::ValueRange words, Type type) {
  if (llvm::isa<mlir::IndexType>(type)) return builder.create<arith::IndexCastOp>(location, type, words[0]);
  const unsigned width = type.getIntOrFloatBitWidth();
  Value bits = words[0];
  if (words.size() == 2) {
    const Type i64 = builder.getI64Type();
    const Value low = builder.create<arith::ExtUIOp>(location, i64, words[0]);
    const Value high = builder.create<arith::ExtUIOp>(location, i64, words[1]);
    const Value shift = builder.create<arith::ConstantIntOp>(location, 32, i64);
    bits = builder.create<arith::OrIOp>(location, low, builder.create<arith::ShLIOp>(location, high, shift));
  }
  if (width != bits.getType().getIntOrFloatBitWidth()) {
    bits = builder.create<arith::TruncIOp>(location, builder.getIntegerType(width), bits);
  }
  return bits.getType() == type ? bits : builder.create<arith::BitcastOp>(location, type, bits).getResult();
}

}  // namespace baton::compiler_lite::schedule
