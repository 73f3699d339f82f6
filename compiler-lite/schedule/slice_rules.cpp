// BoundRules: parts of tensors lie inside of them. No sum that is compared can wrap round.
#include "compiler-lite/schedule/bound_rules.hpp"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
namespace tensor = mlir::tensor;
using llvm::Twine;
using mlir::OffsetSizeAndStrideOpInterface;
using mlir::OpFoldResult;
using mlir::RankedTensorType;
using mlir::Value;

namespace {

// Of constants.
bool lies_inside(OpFoldResult offset, OpFoldResult size, OpFoldResult stride, OpFoldResult length) {
  const auto begin = mlir::getConstantIntValue(offset), count = mlir::getConstantIntValue(size);
  const auto step = mlir::getConstantIntValue(stride), whole = mlir::getConstantIntValue(length);
  if (!begin || !count || !step || !whole || *begin < 0 || *count < 0 || *begin > *whole) return false;
  int64_t last = 0;
  const bool wraps = llvm::MulOverflow(*count - 1, *step, last) || llvm::AddOverflow(last, *begin, last);
  return *count == 0 || (!wraps && *begin < *whole && last >= 0 && last < *whole);
}

}  // namespace

void BoundRules::extract_slice(tensor::ExtractSliceOp op) { slice(op, op.getSource()); }

void BoundRules::insert_slice(tensor::InsertSliceOp op) {
  slice(op, op.getDest());
  const llvm::SmallBitVector dropped = op.getDroppedDims();
  unsigned source_dimension = 0;
  for (unsigned d = 0; d < dropped.size(); ++d) {
    if (dropped.test(d)) continue;
    bounds_.equal(location_, sizes_.of(op.getSource(), source_dimension), op.getMixedSizes()[d],
                  "tensor.insert_slice: dimension " + Twine(source_dimension) +
                      " of operand 0 is $0, and the slice that it fills has $1.");
    ++source_dimension;
  }
}

// Dimension by dimension: the slice is no larger than the whole, and begins where it still fits.
void BoundRules::slice(OffsetSizeAndStrideOpInterface op, Value whole) {
  const auto type = llvm::cast<RankedTensorType>(whole.getType());
  const std::string name = op->getName().getStringRef().str();
  for (unsigned d = 0; d < type.getRank(); ++d) {
    const OpFoldResult size = op.getMixedSizes()[d], offset = op.getMixedOffsets()[d], length = sizes_.of(whole, d);
    if (lies_inside(offset, size, op.getMixedStrides()[d], length)) continue;
    bounds_.at_most(location_, size, length,
                    name + ": the slice's size $0 is more than dimension " + Twine(d) + " of the tensor has, $1.");
    if (!mlir::isConstantIntValue(op.getMixedStrides()[d], 1)) {
      strided_slice(op, d, length);
      continue;
    }
    bounds_.at_most(location_, offset, subtract_indices(builder_, location_, length, size),
                    name + ": the slice begins at $0 of dimension " + Twine(d) + "; $1 is the last that it fits at.");
  }
}

// Checks that the first and the last element lie inside. The product of step and count cannot wrap when the step is at
// most the remaining length divided by the count; with one element the step does not matter.
void BoundRules::strided_slice(OffsetSizeAndStrideOpInterface op, unsigned dimension, OpFoldResult whole) {
  const std::string name = op->getName().getStringRef().str();
  const OpFoldResult size = op.getMixedSizes()[dimension], offset = op.getMixedOffsets()[dimension];
  const OpFoldResult stride = op.getMixedStrides()[dimension];
  const auto compare = [&](arith::CmpIPredicate predicate, OpFoldResult a, int64_t b) -> Value {
    return builder_.createOrFold<arith::CmpIOp>(location_, predicate, value(a), value(constant(b)));
  };
  const Value none = compare(arith::CmpIPredicate::eq, size, 0), few = compare(arith::CmpIPredicate::ule, size, 1);
  bounds_.below(location_, offset, whole,
                name + ": the slice begins at $0 of dimension " + Twine(dimension) + ", which has $1.", none);
  const OpFoldResult steps = subtract_indices(builder_, location_, size, constant(1));
  const Value divisor = builder_.createOrFold<arith::SelectOp>(location_, few, value(constant(1)), value(steps));
  const Value most = builder_.createOrFold<arith::DivUIOp>(
      location_, value(subtract_indices(builder_, location_, whole, constant(1))), divisor);
  // Backwards only by a constant.
  const auto known = mlir::getConstantIntValue(stride);
  const OpFoldResult distance = known && *known < 0 ? constant(-*known) : stride;
  bounds_.at_most(location_, distance, mlir::getAsOpFoldResult(most),
                  name + ": the slice steps by $0 along dimension " + Twine(dimension) + "; $1 is the most that fits.",
                  few);
  const OpFoldResult last =
      add_indices(builder_, location_, offset, multiply_indices(builder_, location_, steps, stride));
  bounds_.below(location_, last, whole,
                name + ": the slice ends with $0 of dimension " + Twine(dimension) + ", which has $1.", few);
}

}  // namespace baton::compiler_lite::schedule
