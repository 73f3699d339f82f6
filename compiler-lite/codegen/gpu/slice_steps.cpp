#include "compiler-lite/codegen/gpu/slice_steps.hpp"

#include <limits>

namespace baton::compiler_lite::codegen::gpu {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

SliceSteps::SliceSteps(OpBuilder& builder, Location location, const Product& product, Value steps, int64_t depth)
    : TileWriter(builder, location), product_(product), depth_(depth) {
  of_turn_ = quotient(add(steps, depth - 1), depth);
  count_ = of_turn_;
  for (const Product::Turn& turn : product.turns) {
    count_ = builder.createOrFold<arith::MulIOp>(location, count_, turn.count);
  }
}

int64_t SliceSteps::steps_of(const Product& product) {
  constexpr int64_t kVeryMany = std::numeric_limits<int32_t>::max();
  int64_t steps = type_of(product.a).getDimSize(1);
  if (mlir::ShapedType::isDynamic(steps)) return kVeryMany;
  for (const Product::Turn& turn : product.turns) {
    const std::optional<int64_t> count = mlir::getConstantIntValue(turn.count);
    if (!count) return kVeryMany;
    steps = std::min(steps * *count, kVeryMany);
  }
  return steps;
}

SliceSteps::Slice SliceSteps::at(Value number) {
  if (product_.turns.empty()) return {times(number, depth_), {index(0), index(0)}};
  const auto divide = [&](Value a, Value b) { return builder_.createOrFold<arith::DivUIOp>(location_, a, b); };
  const auto rest_of = [&](Value a, Value b) { return builder_.createOrFold<arith::RemUIOp>(location_, a, b); };
  Value rest = divide(number, of_turn_);
  Slice slice{times(rest_of(number, of_turn_), depth_), {index(0), index(0)}};
  for (const Product::Turn& turn : llvm::reverse(product_.turns)) {
    const Value digit = rest_of(rest, turn.count);
    rest = divide(rest, turn.count);
    const Value strides[2] = {turn.a_stride, turn.b_stride};
    for (unsigned i = 0; i < 2; ++i) {
      slice.offsets[i] = add(slice.offsets[i], builder_.createOrFold<arith::MulIOp>(location_, digit, strides[i]));
    }
  }
  return slice;
}

Value SliceSteps::unaligned_bits(unsigned matrix, int64_t element_bytes, int64_t bytes) {
  Values strides;
  for (const Product::Turn& turn : product_.turns) strides.push_back(matrix == 0 ? turn.a_stride : turn.b_stride);
  return unaligned_bits_of(strides, element_bytes, bytes);
}

}  // namespace baton::compiler_lite::codegen::gpu
