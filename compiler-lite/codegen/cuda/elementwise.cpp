#include "compiler-lite/codegen/cuda/elementwise.hpp"

#include "compiler-lite/codegen/cuda/points.hpp"
#include "compiler-lite/codegen/llvm_values.hpp"
#include "compiler-lite/codegen/loops.hpp"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

constexpr unsigned kAccessBits = 128;

// Elements through memory of whole bytes, as integers where vectors of the type itself are rare.
mlir::Type stored_type(mlir::Type element) {
  if (element.isF32() || element.isF64()) return element;
  return mlir::IntegerType::get(element.getContext(), std::max(8u, element.getIntOrFloatBitWidth()));
}

bool is_contiguous(mlir::MemRefType type) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  return type.getRank() == 1 && mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset)) && strides[0] == 1;
}

// How many elements a thread takes at once; 1: the operation is none for vectors.
int64_t lanes_of(linalg::GenericOp op) {
  if (op.getNumLoops() != 1) return 1;
  unsigned widest = 8;
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const auto type = llvm::dyn_cast<mlir::MemRefType>(operand.get().getType());
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!type || map.getNumResults() == 0) continue;
    if (!map.isIdentity() || !is_contiguous(type) || !type.getElementType().isIntOrFloat()) return 1;
    widest = std::max(widest, stored_type(type.getElementType()).getIntOrFloatBitWidth());
  }
  return kAccessBits / widest;
}

class Vectors {
 public:
  Vectors(OpBuilder& builder, linalg::GenericOp op, int64_t lanes)
      : op_(op), location_(op.getLoc()), types_(builder.getContext()), lanes_(lanes) {
    for (mlir::OpOperand& operand : op->getOpOperands()) bases_.push_back(base_of(builder, operand));
  }

  // Which of the results an operand is.
  size_t result_of(mlir::OpOperand& operand) {
    return operand.getOperandNumber() - static_cast<size_t>(op_.getNumDpsInputs());
  }

  // Whether all addresses are multiples of their access.
  Value are_aligned(OpBuilder& builder) {
    Value rest = make_i64(builder, location_, 0);
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      const Value base = bases_[operand.getOperandNumber()];
      if (!base) continue;
      const Value address = builder.create<LLVM::PtrToIntOp>(location_, builder.getI64Type(), base);
      const Value mask = make_i64(builder, location_, access_bytes(operand) - 1);
      rest = builder.create<LLVM::OrOp>(location_, rest, builder.create<LLVM::AndOp>(location_, address, mask));
    }
    return builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, rest, make_i64(builder, location_, 0));
  }

  // The elements from `at` on.
  void write(OpBuilder& builder, Value at) {
    Values vectors(bases_.size());
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      if (!op_.payloadUsesValueFromOperand(&operand) || !bases_[operand.getOperandNumber()]) continue;
      vectors[operand.getOperandNumber()] = builder.create<LLVM::LoadOp>(
          location_, vector_type(operand), address(builder, operand, at), access_bytes(operand));
    }
    Values results(static_cast<size_t>(op_.getNumDpsInits()));
    for (int64_t lane = 0; lane < lanes_; ++lane) write_lane(builder, at, lane, vectors, results);
    for (mlir::OpOperand& operand : op_.getDpsInitsMutable()) {
      builder.create<LLVM::StoreOp>(location_, results[result_of(operand)], address(builder, operand, at),
                                    access_bytes(operand));
    }
  }

 private:
  mlir::Type element(mlir::OpOperand& operand) const { return mlir::getElementTypeOrSelf(operand.get().getType()); }
  mlir::VectorType vector_type(mlir::OpOperand& operand) const {
    return mlir::VectorType::get({lanes_}, stored_type(element(operand)));
  }
  unsigned access_bytes(mlir::OpOperand& operand) const {
    return static_cast<unsigned>(lanes_) * stored_type(element(operand)).getIntOrFloatBitWidth() / 8;
  }

  // Where the elements begin; null for what isn't read element by element.
  Value base_of(OpBuilder& builder, mlir::OpOperand& operand) {
    const auto type = llvm::dyn_cast<mlir::MemRefType>(operand.get().getType());
    if (!type || op_.getMatchingIndexingMap(&operand).getNumResults() == 0) return {};
    mlir::MemRefDescriptor memory(cast(builder, location_, operand.get(), types_.convertType(type)));
    const Value pointer = memory.alignedPtr(builder, location_);
    return builder.create<LLVM::GEPOp>(location_, pointer.getType(), stored_type(type.getElementType()), pointer,
                                       mlir::ValueRange{memory.offset(builder, location_)});
  }

  Value address(OpBuilder& builder, mlir::OpOperand& operand, Value at) {
    const Value base = bases_[operand.getOperandNumber()];
    return builder.create<LLVM::GEPOp>(location_, base.getType(), stored_type(element(operand)), base,
                                       mlir::ValueRange{cast(builder, location_, at, builder.getI64Type())});
  }

  void write_lane(OpBuilder& builder, Value at, int64_t lane, llvm::ArrayRef<Value> vectors,
                  llvm::MutableArrayRef<Value> results) {
    const Value position = make_i32(builder, location_, lane);
    const Value offset = builder.create<arith::ConstantIndexOp>(location_, lane);
    const Value point = builder.create<arith::AddIOp>(location_, at, offset);
    Values operands;
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      const Value vector = vectors[operand.getOperandNumber()];
      if (!op_.payloadUsesValueFromOperand(&operand)) {
        const mlir::Type type = element(operand);
        operands.push_back(builder.create<arith::ConstantOp>(location_, type, builder.getZeroAttr(type)));
      } else if (!vector) {
        operands.push_back(load(builder, op_, operand, point));
      } else {
        const Value stored = builder.create<LLVM::ExtractElementOp>(location_, vector, position);
        operands.push_back(from_stored(builder, stored, element(operand)));
      }
    }
    const Values yielded = compute(builder, op_, point, operands);
    for (mlir::OpOperand& operand : op_.getDpsInitsMutable()) {
      Value& result = results[result_of(operand)];
      const Value value = yielded[result_of(operand)];
      if (!result) result = builder.create<LLVM::UndefOp>(location_, vector_type(operand));
      result = builder.create<LLVM::InsertElementOp>(location_, result, to_stored(builder, value), position);
    }
  }

  Value from_stored(OpBuilder& builder, Value value, mlir::Type type) {
    if (value.getType() == type) return value;
    if (llvm::isa<mlir::IntegerType>(type)) return builder.create<arith::TruncIOp>(location_, type, value);
    return builder.create<arith::BitcastOp>(location_, type, value);
  }
  Value to_stored(OpBuilder& builder, Value value) {
    const mlir::Type type = stored_type(value.getType());
    if (value.getType() == type) return value;
    if (llvm::isa<mlir::IntegerType>(value.getType())) return builder.create<arith::ExtUIOp>(location_, type, value);
    return builder.create<arith::BitcastOp>(location_, type, value);
  }

  linalg::GenericOp op_;
  Location location_;
  mlir::LLVMTypeConverter types_;
  int64_t lanes_;
  Values bases_;
};

// Points of several loops, the best one the fastest.
Values order_point(OpBuilder& builder, linalg::GenericOp op, Value number, const Values& sizes) {
  const unsigned count = op.getNumLoops();
  if (count == 0) return {};
  llvm::SmallVector<unsigned> order = llvm::to_vector(llvm::seq(0u, count));
  const unsigned fastest = best_innermost(op, order);
  order.erase(order.begin() + fastest);
  order.push_back(fastest);
  Values ordered_sizes;
  for (const unsigned loop : order) ordered_sizes.push_back(sizes[loop]);
  const Values digits = split(builder, op.getLoc(), number, ordered_sizes);
  Values point(count);
  for (unsigned i = 0; i < count; ++i) point[order[i]] = digits[i];
  return point;
}

}  // namespace

void lower_elementwise(OpBuilder& builder, linalg::GenericOp op, Block& block) {
  const Location location = op.getLoc();
  const Values sizes = loop_sizes(builder, op);
  const Value count = product(builder, location, sizes);
  const int64_t lanes = lanes_of(op);
  Value begin = builder.create<arith::ConstantIndexOp>(location, 0);
  if (lanes > 1) {
    Vectors vectors(builder, op, lanes);
    const Value width = builder.create<arith::ConstantIndexOp>(location, lanes);
    const Value whole =
        builder.create<arith::SubIOp>(location, count, builder.createOrFold<arith::RemUIOp>(location, count, width));
    const Value end = builder.create<arith::SelectOp>(location, vectors.are_aligned(builder), whole, begin);
    block.strided(builder, location, begin, end, lanes,
                  [&](OpBuilder& inside, Value at) { vectors.write(inside, at); });
    begin = end;
  }
  block.strided(builder, location, begin, count, 1, [&](OpBuilder& inside, Value number) {
    const Values point = order_point(inside, op, number, sizes);
    store(inside, op, point, compute_loaded(inside, op, point));
  });
}

}  // namespace baton::compiler_lite::codegen::cuda
