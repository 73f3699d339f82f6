// BoundRules: tensors inside of bodies. A body may make small tensors of its own, cut slices and put elements or slices
// into others, by indices that only the kernel knows. As with elements that are read (codegen/index_checks.hpp), such an
// index means the nearest one that fits.
#include "compiler-lite/schedule/bound_rules.hpp"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::OffsetSizeAndStrideOpInterface;
using mlir::Operation;
using mlir::OpFoldResult;
using mlir::RankedTensorType;
using mlir::ShapedType;
using mlir::Value;

namespace {

// Whether the index is known to be below `count`: a constant, or a loop's.
bool is_below(OpFoldResult index, int64_t count) {
  if (const auto known = mlir::getConstantIntValue(index)) return *known >= 0 && *known < count;
  const auto value = llvm::cast<Value>(index);
  if (auto position = value.getDefiningOp<linalg::IndexOp>()) {
    auto op = llvm::cast<linalg::LinalgOp>(position->getParentOp());
    const int64_t extent = op.getStaticLoopRanges()[static_cast<size_t>(position.getDim())];
    return !ShapedType::isDynamic(extent) && extent <= count;
  }
  const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  auto loop = argument ? llvm::dyn_cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
  if (!loop || loop.getInductionVar() != value) return false;
  const auto first = mlir::getConstantIntValue(loop.getLowerBound());
  const auto past = mlir::getConstantIntValue(loop.getUpperBound());
  const auto step = mlir::getConstantIntValue(loop.getStep());
  return first && past && step && *first >= 0 && *past <= count && *step > 0;
}

// No less than 0, no more than `most`.
Value hold(mlir::OpBuilder& builder, mlir::Location location, Value index, Value most) {
  const Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
  return builder.createOrFold<arith::MinSIOp>(location, builder.createOrFold<arith::MaxSIOp>(location, index, zero),
                                              most);
}

}  // namespace

void BoundRules::hold_in_body(Operation* op, llvm::ArrayRef<OpFoldResult> extents) {
  llvm::SmallVector<Operation*> inside;
  op->walk([&](Operation* each) {
    if (each != op) inside.push_back(each);
  });
  const auto is_own = [&](Value tensor) { return op->isAncestor(tensor.getParentBlock()->getParentOp()); };
  const auto is_open = [&](Value tensor) {
    const auto type = llvm::dyn_cast<RankedTensorType>(tensor.getType());
    return type && !type.hasStaticShape() && is_own(tensor);
  };
  for (Operation* each : inside) {
    if (llvm::any_of(each->getOperands(), is_open) || llvm::any_of(each->getResults(), is_open)) {
      return refuse(each, "a tensor in a body is of open sizes; only known ones are lowered there.");
    }
    if (auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(each)) {
      hold_slice(slice, slice.getSource(), op, extents);
    } else if (auto put = llvm::dyn_cast<tensor::InsertSliceOp>(each)) {
      hold_slice(put, put.getDest(), op, extents);
    } else if (auto insert = llvm::dyn_cast<tensor::InsertOp>(each)) {
      hold_elements(each, insert.getDest().getType(), insert.getIndicesMutable());
    } else if (auto extract = llvm::dyn_cast<tensor::ExtractOp>(each)) {
      if (is_own(extract.getTensor())) {
        hold_elements(each, extract.getTensor().getType(), extract.getIndicesMutable());
      }
    } else if (auto inner = llvm::dyn_cast<linalg::LinalgOp>(each)) {
      loops(inner);
    } else if (auto cast_op = llvm::dyn_cast<tensor::CastOp>(each)) {
      cast(cast_op);
    }
  }
}

// An element of a body's own tensor, whose sizes are known.
void BoundRules::hold_elements(Operation* access, RankedTensorType type, mlir::MutableOperandRange indices) {
  if (!type.hasStaticShape()) return refuse(access, "it writes into a tensor of open sizes from a body.");
  mlir::OpBuilder builder(access);
  if (type.getNumElements() == 0) {  // Nothing can be written, and what is read is 0.
    auto insert = llvm::dyn_cast<tensor::InsertOp>(access);
    Value other;
    if (insert) {
      other = insert.getDest();
    } else {
      other = builder.create<arith::ConstantOp>(access->getLoc(), builder.getZeroAttr(type.getElementType()));
    }
    access->getResult(0).replaceAllUsesWith(other);
    return access->erase();
  }
  for (unsigned d = 0; d < indices.size(); ++d) {
    mlir::OpOperand& index = indices[d];
    if (is_below(mlir::getAsOpFoldResult(index.get()), type.getDimSize(d))) continue;
    const Value last = builder.create<arith::ConstantIndexOp>(access->getLoc(), type.getDimSize(d) - 1);
    index.set(hold(builder, access->getLoc(), index.get(), last));
  }
}

// The slice moves to where all of it is inside. There must be as much as it asks for: that is the host's to compare.
void BoundRules::hold_slice(OffsetSizeAndStrideOpInterface slice, Value whole, Operation* op,
                            llvm::ArrayRef<OpFoldResult> extents) {
  const auto type = llvm::cast<RankedTensorType>(whole.getType());
  mlir::OpBuilder builder(slice);
  const mlir::Location location = slice->getLoc();
  unsigned next = 0;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    const auto size = mlir::getConstantIntValue(slice.getMixedSizes()[d]);
    const auto stride = mlir::getConstantIntValue(slice.getMixedStrides()[d]);
    const OpFoldResult offset = slice.getMixedOffsets()[d];
    const unsigned place = ShapedType::isDynamic(slice.getStaticOffsets()[d]) ? next++ : 0;
    if (!size || !stride || *size < 0 || *stride < 0) {
      return refuse(slice, "the size or step of dimension ", d,
                    " in a body is open; only known ones are lowered there.");
    }
    int64_t reach = 0;
    if (llvm::MulOverflow(std::max<int64_t>(*size - 1, 0), *stride, reach) || reach >= INT64_MAX - 1) {
      return refuse(slice, "dimension ", d, " of a tensor in a body has no room for the slice.");
    }
    reach += *size > 0;
    const OpFoldResult length = sizes_.of(whole, d);
    if (const auto known = mlir::getConstantIntValue(length)) {
      if (reach > *known) return refuse(slice, "dimension ", d, " of a tensor in a body has no room for the slice.");
      if (is_below(offset, *known - reach + 1)) continue;
    }
    const auto begins_at = mlir::getConstantIntValue(offset);
    if (begins_at && (*begins_at < 0 || llvm::AddOverflow(*begins_at, reach, reach))) {
      return refuse(slice, "it begins outside of a tensor in a body.");
    }
    bounds_.at_most(location_, constant(reach), length,
                    op->getName().getStringRef() + ": its body reads $0 along dimension " + llvm::Twine(d) +
                        " of a tensor, which has $1.",
                    runs_never(location_, extents));
    if (begins_at) continue;
    const Value most = value(subtract_indices(builder_, location_, length, constant(reach)));
    const Value begin = mlir::getValueOrCreateConstantIndexOp(builder, location, offset);
    const Value held = hold(builder, location, begin, most);
    slice->setOperand(slice.getOffsetSizeAndStrideStartOperandIndex() + place, held);
  }
}

}  // namespace baton::compiler_lite::schedule
