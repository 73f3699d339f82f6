#include "compiler-lite/codegen/gpu/sum_writer.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::codegen::gpu {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

SumWriter::SumWriter(OpBuilder& builder, Location location, const Product& product, bool from_zero, int64_t count)
    : product_(product), location_(location), from_zero_(from_zero) {
  is_aligned_ = builder.create<arith::ConstantIntOp>(location, 1, 1);
  if (product.last) {
    open_last(builder, count);
    return;
  }
  c_ = open_memory(builder, location, product.c);
  if (contiguous_dimension(product.c) != 1) return;
  at_once_ = count;
  const Value bits = unaligned_bits(builder, location, c_, count * stored_bytes(c_.element));
  is_aligned_ = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::eq, bits, make_i64(builder, location, 0));
}

void SumWriter::open_last(OpBuilder& builder, int64_t count) {
  linalg::GenericOp last = product_.last;
  const Product::Digit& column = product_.columns.front();
  // Neighbours are steps of one loop, and no other one takes a step between them.
  if (product_.columns.size() > 1 && column.size % count != 0) return;
  const unsigned loop = *product_.last_loops[column.loop];
  for (mlir::OpOperand& result : last.getDpsInitsMutable()) {
    if (step_of(last, result, loop) != Step::kNext) return;
  }
  vectors_.emplace(builder, last, loop, count);
  at_once_ = count;
  is_aligned_ = vectors_->are_aligned(builder);
}

void SumWriter::write(OpBuilder& builder, Value row, Value column, ValueRange sums) {
  if (!product_.last) return write_plain(builder, row, column, sums);
  linalg::GenericOp last = product_.last;
  Values converted;
  for (const Value sum : sums) {
    converted.push_back(convert_element(builder, location_, sum, product_.sum_type, product_.is_unsigned));
  }
  const Values point = point_of_last(builder, row, column);
  if (sums.size() > 1) {
    llvm::SmallVector<Values> given(last->getNumOperands());
    given[product_.sums_of_last->getOperandNumber()] = converted;
    return vectors_->write(builder, point, given);
  }
  Values operands;
  for (mlir::OpOperand& operand : last->getOpOperands()) {
    const mlir::Type type = mlir::getElementTypeOrSelf(operand.get().getType());
    if (&operand == product_.sums_of_last) {
      operands.push_back(converted.front());
    } else if (!last.payloadUsesValueFromOperand(&operand)) {
      operands.push_back(builder.create<arith::ConstantOp>(location_, type, builder.getZeroAttr(type)));
    } else {
      operands.push_back(load(builder, last, operand, point));
    }
  }
  store(builder, last, point, compute(builder, last, point, operands));
}

void SumWriter::write_plain(OpBuilder& builder, Value row, Value column, ValueRange sums) {
  const Value address = strided_address_of(builder, location_, c_, {row, column});
  const auto count = static_cast<int64_t>(sums.size());
  const Values before = from_zero_ ? Values() : load_elements(builder, location_, c_, address, count);
  Values results;
  for (size_t i = 0; i < sums.size(); ++i) {
    Value sum = sums[i];
    if (!from_zero_) {
      const mlir::Type type = sum.getType();
      const Value old = convert_element(builder, location_, before[i], type, product_.is_unsigned);
      if (llvm::isa<mlir::FloatType>(type)) {
        sum = builder.create<arith::AddFOp>(location_, old, sum);
      } else {
        sum = builder.create<arith::AddIOp>(location_, old, sum);
      }
    }
    results.push_back(convert_element(builder, location_, sum, c_.element, product_.is_unsigned));
  }
  store_elements(builder, location_, c_, address, results);
}

Values SumWriter::point_of_last(OpBuilder& builder, Value row, Value column) const {
  linalg::GenericOp last = product_.last;
  Values point(last.getNumLoops());
  const auto put = [&](unsigned loop, Value value) {
    if (product_.last_loops[loop]) point[*product_.last_loops[loop]] = value;
  };
  for (unsigned loop = 0; loop < product_.around.size(); ++loop) {
    if (product_.around[loop]) put(loop, product_.around[loop]);
  }
  for (const auto& [digits, side] : {std::pair(&product_.rows, row), std::pair(&product_.columns, column)}) {
    Values sizes;
    for (const Product::Digit& digit : llvm::reverse(*digits)) {
      // The slowest has what is left, so that its size isn't asked for.
      const int64_t size = sizes.empty() ? 1 : digit.size;
      sizes.push_back(builder.create<arith::ConstantIndexOp>(location_, size));
    }
    const Values values = split(builder, location_, side, sizes);
    for (size_t i = 0; i < values.size(); ++i) put((*digits)[values.size() - 1 - i].loop, values[i]);
  }
  // Of one step.
  for (Value& each : point) {
    if (!each) each = builder.create<arith::ConstantIndexOp>(location_, 0);
  }
  return point;
}

}  // namespace baton::compiler_lite::codegen::gpu
