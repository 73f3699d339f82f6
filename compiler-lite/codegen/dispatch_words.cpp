// The host side of a kernel: what its dispatches pass (pack_constants, build_grid of kernel.hpp).
#include "compiler-lite/codegen/kernel.hpp"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::codegen {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

llvm::SmallVector<Value> pack_constants(OpBuilder& builder, Location location, const Kernel& kernel,
                                        ConstantValue value_of) {
  llvm::SmallVector<Value> words;
  const mlir::Type i32 = builder.getI32Type();
  for (const KernelConstant& constant : kernel.constants) {
    Value bits = value_of(constant);
    if (llvm::isa<mlir::IndexType>(constant.type)) {
      words.push_back(builder.createOrFold<arith::IndexCastOp>(location, i32, bits));
      continue;
    }
    const unsigned width = constant.type.getIntOrFloatBitWidth();
    if (llvm::isa<mlir::FloatType>(constant.type)) {
      bits = builder.createOrFold<arith::BitcastOp>(location, builder.getIntegerType(width), bits);
    }
    if (constant.word_count == 1) {
      words.push_back(width == 32 ? bits : builder.createOrFold<arith::ExtUIOp>(location, i32, bits));
      continue;
    }
    if (width < 64) bits = builder.createOrFold<arith::ExtUIOp>(location, builder.getI64Type(), bits);
    words.push_back(builder.createOrFold<arith::TruncIOp>(location, i32, bits));
    const Value shift = builder.create<arith::ConstantIntOp>(location, 32, builder.getI64Type());
    const Value high = builder.createOrFold<arith::ShRUIOp>(location, bits, shift);
    words.push_back(builder.createOrFold<arith::TruncIOp>(location, i32, high));
  }
  return words;
}

llvm::SmallVector<Value> build_grid(OpBuilder& builder, Location location, const Kernel& kernel,
                                    ConstantValue value_of) {
  // Only the constants that occur are asked for.
  llvm::SmallVector<Value> symbols;
  for (unsigned i = 0; i < kernel.constants.size(); ++i) {
    const bool used = kernel.grid.isFunctionOfSymbol(i);
    symbols.push_back(used ? value_of(kernel.constants[i]) : Value());
  }
  llvm::SmallVector<Value> grid;
  for (const mlir::AffineExpr size : kernel.grid.getResults()) {
    grid.push_back(mlir::affine::expandAffineExpr(builder, location, size, {}, symbols));
  }
  return grid;
}

}  // namespace baton::compiler_lite::codegen
