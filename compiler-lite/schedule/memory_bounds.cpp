#include "compiler-lite/schedule/memory_bounds.hpp"

#include "compiler-lite/schedule/recording.hpp"
#include "compiler-lite/schedule/tensor_sizes.hpp"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
using llvm::SmallVector;
using llvm::Twine;
using mlir::Location;
using mlir::Operation;
using mlir::OpFoldResult;
using mlir::RankedTensorType;
using mlir::Value;

// More than any memory has.
constexpr int64_t kBytesMax = int64_t{1} << 47;
// So much larger than an imported tensor may one of the same sizes be without being looked at.
constexpr int64_t kFactorMax = 1 << 15;

// Bytes for each element and each size that the type knows.
int64_t known_bytes(RankedTensorType type) {
  int64_t known = element_bytes(type.getElementType());
  for (const int64_t size : type.getShape()) {
    if (!mlir::ShapedType::isDynamic(size) && llvm::MulOverflow(known, size, known)) return INT64_MAX;
  }
  return known;
}

SmallVector<Value> sorted(mlir::ValueRange sizes) {
  SmallVector<Value> values(sizes);
  llvm::sort(values, [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
  return values;
}

}  // namespace

void MemoryBounds::note(RankedTensorType type, mlir::ValueRange sizes) {
  const bool can_be_empty = llvm::is_contained(type.getShape(), 0);
  if (!sizes.empty() && !can_be_empty) bounded_.push_back({sorted(sizes), known_bytes(type), nullptr});
}

bool MemoryBounds::is_bounded(mlir::ValueRange sizes, int64_t bytes) {
  const SmallVector<Value> values = sorted(sizes);
  mlir::Block* here = builder_.getInsertionBlock();
  return llvm::any_of(bounded_, [&](const Bounded& bounded) {
    const bool comes_before = !bounded.block || bounded.block == here || bounded.block->isEntryBlock();
    return comes_before && bounded.sizes == values && bytes / kFactorMax <= bounded.bytes;
  });
}

void MemoryBounds::require(Operation* op, Value tensor, mlir::ValueRange sizes) {
  const auto type = llvm::cast<RankedTensorType>(tensor.getType());
  const int64_t bytes = std::max<int64_t>(known_bytes(type), 1);
  SmallVector<Value> open;
  int64_t most = kBytesMax / bytes;
  for (const Value size : sizes) {
    const std::optional<int64_t> known = fold_integer(size);
    if (!known || *known < 0) {
      open.push_back(size);
    } else {
      most /= std::max<int64_t>(*known, 1);
    }
  }
  if (open.empty() || is_bounded(open, bytes)) return;
  const Location location = op->getLoc();
  const std::string name = op->getName().getStringRef().str();
  const auto limit = index_constant(builder_.getContext(), most);
  if (open.size() == 1) {
    bounds_.at_most(location, open[0], limit, name + ": a size is $0, of 0 to $1.");
  } else {
    const SmallVector<OpFoldResult> factors(open.begin(), open.end());
    const Value product = float_product(builder_, location, factors);
    const Value largest =
        builder_.create<arith::ConstantOp>(location, builder_.getF64FloatAttr(static_cast<double>(most)));
    const Value fits = builder_.create<arith::CmpFOp>(location, arith::CmpFPredicate::OLE, product, largest);
    bounds_.require(location, fits, Bounds::Fault::kOutOfRange,
                    name + ": sizes, $0 and $1 among them, make a tensor that no memory can hold.", open[0], open[1]);
  }
  bounded_.push_back({sorted(open), bytes, builder_.getInsertionBlock()});
}

void MemoryBounds::require_same_count(mlir::tensor::ReshapeOp op, mlir::ValueRange sizes) {
  require(op, op.getResult(), sizes);
  const Location location = op.getLoc();
  SmallVector<OpFoldResult> before, after;
  for (const Value size : places_.all_sizes(location, op.getSource())) before.push_back(mlir::getAsOpFoldResult(size));
  unsigned next = 0;
  const auto type = llvm::cast<RankedTensorType>(op.getType());
  for (unsigned i = 0; i < type.getRank(); ++i) {
    const Value size = type.isDynamicDim(i) ? sizes[next++] : hal_.index(builder_, location, type.getDimSize(i));
    after.push_back(mlir::getAsOpFoldResult(size));
  }
  const auto is_known = [](OpFoldResult size) { return mlir::getConstantIntValue(size).has_value(); };
  if (llvm::all_of(before, is_known) && llvm::all_of(after, is_known)) {
    const auto count = [](llvm::ArrayRef<OpFoldResult> factors) {
      int64_t product = 1;
      for (const OpFoldResult factor : factors) product *= *mlir::getConstantIntValue(factor);
      return product;
    };
    if (count(before) == count(after)) return;
  }
  const auto product = [&](llvm::ArrayRef<OpFoldResult> factors) {
    OpFoldResult result = index_constant(builder_.getContext(), 1);
    for (const OpFoldResult factor : factors) result = multiply_indices(builder_, location, result, factor);
    return result;
  };
  const Value same =
      builder_.create<arith::CmpFOp>(location, arith::CmpFPredicate::OEQ, float_product(builder_, location, after),
                                     float_product(builder_, location, before));
  bounds_.require(location, same, Bounds::Fault::kInvalidArgument,
                  "tensor.reshape: the shape has $0 elements, and the tensor has $1.", product(after), product(before));
}

}  // namespace baton::compiler_lite::schedule
