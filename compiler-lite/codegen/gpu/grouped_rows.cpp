#include "compiler-lite/codegen/gpu/grouped_rows.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"

namespace baton::compiler_lite::codegen::gpu {

using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

GroupedRows::GroupedRows(OpBuilder& builder, Location location, const Product& product)
    : TileWriter(builder, location) {
  if (product.row_groups.empty()) return;
  const Product::RowGroup& first = product.row_groups.front();
  int64_t rows = first.size;
  for (const Product::RowGroup& group : llvm::drop_begin(product.row_groups)) {
    const Value in_one_stride = times(first.a_stride, rows);
    groups_.push_back(
        {rows, group.size, builder.createOrFold<mlir::arith::SubIOp>(location, group.a_stride, in_one_stride)});
    strides_.push_back(group.a_stride);
    rows *= group.size;
  }
}

Value GroupedRows::beyond(Value row) {
  Value sum;
  for (const Group& group : groups_) {
    Value number = quotient(row, group.rows);
    if (&group != &groups_.back()) number = remainder(number, group.count);
    const Value further = builder_.createOrFold<mlir::arith::MulIOp>(location_, number, group.further);
    sum = sum ? add(sum, further) : further;
  }
  return sum ? cast(builder_, location_, sum, builder_.getI64Type()) : sum;
}

Value GroupedRows::unaligned_bits(int64_t element_bytes, int64_t bytes) {
  return unaligned_bits_of(strides_, element_bytes, bytes);
}

}  // namespace baton::compiler_lite::codegen::gpu
