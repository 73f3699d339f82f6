#include "compiler-lite/codegen/product.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

namespace {

bool is_batched(linalg::LinalgOp op) {
  return llvm::isa<linalg::BatchMatmulOp, linalg::BatchMatmulTransposeAOp, linalg::BatchMatmulTransposeBOp>(
      op.getOperation());
}

bool is_unsigned_cast(linalg::LinalgOp op) {
  const auto cast = op->getAttrOfType<linalg::TypeFnAttr>("cast");
  return cast && cast.getValue() == linalg::TypeFn::cast_unsigned;
}

Value transpose(OpBuilder& builder, Location location, Value memory) {
  const mlir::AffineMap swap = mlir::AffineMap::getPermutationMap(llvm::ArrayRef<unsigned>{1, 0}, builder.getContext());
  return builder.create<memref::TransposeOp>(location, memory, mlir::AffineMapAttr::get(swap));
}

// The `i`-th matrix of a batch.
Value slice_batch(OpBuilder& builder, Location location, Value memory, Value i) {
  const auto type = llvm::cast<mlir::MemRefType>(memory.getType());
  llvm::SmallVector<mlir::OpFoldResult> offsets(3, builder.getIndexAttr(0)), sizes, strides(3, builder.getIndexAttr(1));
  offsets[0] = i;
  sizes = memref::getMixedSizes(builder, location, memory);
  sizes[0] = builder.getIndexAttr(1);
  llvm::SmallVector<int64_t> shape(type.getShape().drop_front());
  auto result =
      llvm::cast<mlir::MemRefType>(memref::SubViewOp::inferRankReducedResultType(shape, type, offsets, sizes, strides));
  return builder.create<memref::SubViewOp>(location, result, memory, offsets, sizes, strides);
}

}  // namespace

bool has_contiguous_rows(Value memory) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  return mlir::succeeded(mlir::getStridesAndOffset(llvm::cast<mlir::MemRefType>(memory.getType()), strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

int contiguous_dimension(Value memory) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (mlir::failed(mlir::getStridesAndOffset(llvm::cast<mlir::MemRefType>(memory.getType()), strides, offset))) {
    return -1;
  }
  return strides[1] == 1 ? 1 : strides[0] == 1 ? 0 : -1;
}

Value convert_element(OpBuilder& builder, Location location, Value value, mlir::Type type, bool is_unsigned) {
  const mlir::Type from = mlir::getElementTypeOrSelf(value.getType());
  const mlir::Type to = mlir::getElementTypeOrSelf(type);
  if (from == to) return value;
  if (llvm::isa<mlir::FloatType>(to)) {
    if (llvm::isa<mlir::FloatType>(from)) {
      const bool wider = to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
      return wider ? builder.create<arith::ExtFOp>(location, type, value).getResult()
                   : builder.create<arith::TruncFOp>(location, type, value).getResult();
    }
    return is_unsigned ? builder.create<arith::UIToFPOp>(location, type, value).getResult()
                       : builder.create<arith::SIToFPOp>(location, type, value).getResult();
  }
  if (to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth()) {
    return builder.create<arith::TruncIOp>(location, type, value);
  }
  return is_unsigned ? builder.create<arith::ExtUIOp>(location, type, value).getResult()
                     : builder.create<arith::ExtSIOp>(location, type, value).getResult();
}

linalg::LinalgOp name_product(mlir::IRRewriter& rewriter, linalg::LinalgOp op) {
  auto generic = llvm::dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || !linalg::isaContractionOpInterface(op)) return op;
  rewriter.setInsertionPoint(generic);
  mlir::FailureOr<linalg::LinalgOp> named = linalg::specializeGenericOp(rewriter, generic);
  return mlir::succeeded(named) ? *named : op;
}

bool is_product(linalg::LinalgOp op) {
  return is_batched(op) ||
         llvm::isa<linalg::MatmulOp, linalg::MatmulTransposeAOp, linalg::MatmulTransposeBOp>(op.getOperation());
}

Product open_product(mlir::IRRewriter& rewriter, linalg::LinalgOp op) {
  const Location location = op.getLoc();
  rewriter.setInsertionPoint(op);
  Product product{op.getDpsInputs()[0], op.getDpsInputs()[1], op.getDpsInits()[0], is_unsigned_cast(op)};
  if (is_batched(op)) {
    const Value zero = rewriter.create<arith::ConstantIndexOp>(location, 0);
    const Value one = rewriter.create<arith::ConstantIndexOp>(location, 1);
    const Value count = rewriter.createOrFold<memref::DimOp>(location, product.c, 0);
    auto loop = rewriter.create<scf::ForOp>(location, zero, count, one);
    rewriter.setInsertionPointToStart(loop.getBody());
    for (Value* memory : {&product.a, &product.b, &product.c}) {
      *memory = slice_batch(rewriter, location, *memory, loop.getInductionVar());
    }
  }
  if (llvm::isa<linalg::MatmulTransposeAOp, linalg::BatchMatmulTransposeAOp>(op.getOperation())) {
    product.a = transpose(rewriter, location, product.a);
  }
  if (llvm::isa<linalg::MatmulTransposeBOp, linalg::BatchMatmulTransposeBOp>(op.getOperation())) {
    product.b = transpose(rewriter, location, product.b);
  }
  return product;
}

}  // namespace baton::compiler_lite::codegen
