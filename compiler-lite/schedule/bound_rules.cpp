#include "compiler-lite/schedule/bound_rules.hpp"

#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using llvm::Twine;
using mlir::Operation;
using mlir::OpFoldResult;
using mlir::RankedTensorType;
using mlir::Value;

namespace {

// Far more than any memory has; sums of it stay numbers of 64 bits.
constexpr int64_t kPaddingMax = int64_t{1} << 47;

std::string name_of(Operation* op) { return op->getName().getStringRef().str(); }

unsigned rank_of(Value tensor) {
  return static_cast<unsigned>(llvm::cast<RankedTensorType>(tensor.getType()).getRank());
}

}  // namespace

Value BoundRules::value(OpFoldResult size) { return mlir::getValueOrCreateConstantIndexOp(builder_, location_, size); }

mlir::LogicalResult BoundRules::apply(Operation* op) {
  if (has_tensors(op)) compare(op);
  return mlir::success(!refused_);
}

void BoundRules::compare(Operation* op) {
  builder_.setInsertionPoint(op);
  location_ = op->getLoc();
  if (auto structured_op = llvm::dyn_cast<linalg::LinalgOp>(op)) return structured(structured_op);
  if (auto extract = llvm::dyn_cast<tensor::ExtractOp>(op)) {
    return elements(op, extract.getTensor(), extract.getIndices());
  }
  if (auto insert = llvm::dyn_cast<tensor::InsertOp>(op)) return elements(op, insert.getDest(), insert.getIndices());
  if (auto cast_op = llvm::dyn_cast<tensor::CastOp>(op)) return cast(cast_op);
  if (auto slice_op = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) return extract_slice(slice_op);
  if (auto slice_op = llvm::dyn_cast<tensor::InsertSliceOp>(op)) return insert_slice(slice_op);
  if (auto concat_op = llvm::dyn_cast<tensor::ConcatOp>(op)) return concat(concat_op);
  if (auto pad_op = llvm::dyn_cast<tensor::PadOp>(op)) return pad(pad_op);
  if (auto expand_op = llvm::dyn_cast<tensor::ExpandShapeOp>(op)) return expand(expand_op);
  if (auto gather_op = llvm::dyn_cast<tensor::GatherOp>(op)) return gather(gather_op);
  if (auto generate = llvm::dyn_cast<tensor::GenerateOp>(op)) {
    SmallVector<OpFoldResult> extents;
    for (unsigned i = 0; i < rank_of(generate); ++i) extents.push_back(sizes_.of(generate, i));
    return body_extracts(op, extents);
  }
  if (mlir::OpTrait::hasElementwiseMappableTraits(op)) return elementwise(op);
}

void BoundRules::elementwise(Operation* op) {
  mlir::OpOperand* first = nullptr;
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!is_tensor(operand.get())) continue;
    if (!first) {
      first = &operand;
      continue;
    }
    for (unsigned d = 0; d < rank_of(operand.get()); ++d) {
      bounds_.equal(location_, sizes_.of(operand.get(), d), sizes_.of(first->get(), d),
                    name_of(op) + ": dimension " + Twine(d) + " of operand " + Twine(operand.getOperandNumber()) +
                        " is $0, and of operand " + Twine(first->getOperandNumber()) + " it is $1.");
    }
  }
}

void BoundRules::cast(tensor::CastOp op) {
  const auto from = llvm::dyn_cast<RankedTensorType>(op.getSource().getType());
  const auto to = llvm::dyn_cast<RankedTensorType>(op.getType());
  for (unsigned d = 0; from && to && d < to.getRank(); ++d) {
    if (to.isDynamicDim(d)) continue;
    bounds_.equal(location_, sizes_.of(op.getSource(), d), constant(to.getDimSize(d)),
                  name_of(op) + ": dimension " + Twine(d) + " of operand 0 is $0, and the result's is $1.");
  }
}

// One element, by its indices.
void BoundRules::elements(Operation* op, Value tensor, mlir::ValueRange indices) {
  for (unsigned d = 0; d < indices.size(); ++d) {
    const OpFoldResult index = mlir::getAsOpFoldResult(indices[d]);
    bounds_.below(location_, index, sizes_.of(tensor, d),
                  name_of(op) + ": index " + Twine(d) + " is $0, and dimension " + Twine(d) + " of the tensor has $1.");
  }
}

void BoundRules::concat(tensor::ConcatOp op) {
  const Value first = op.getInputs()[0];
  for (unsigned i = 1; i < op.getInputs().size(); ++i) {
    for (unsigned d = 0; d < rank_of(first); ++d) {
      if (d == op.getDim()) continue;
      bounds_.equal(
          location_, sizes_.of(op.getInputs()[i], d), sizes_.of(first, d),
          name_of(op) + ": dimension " + Twine(d) + " of operand " + Twine(i) + " is $0, and of operand 0 it is $1.");
    }
  }
  const RankedTensorType type = op.getResultType();
  const auto dimension = static_cast<unsigned>(op.getDim());
  if (type.isDynamicDim(dimension)) return;
  OpFoldResult sum = constant(0);
  for (const Value input : op.getInputs()) {
    sum = add_indices(builder_, location_, sum, sizes_.of(input, dimension));
  }
  bounds_.equal(
      location_, sum, constant(type.getDimSize(dimension)),
      name_of(op) + ": dimension " + Twine(dimension) + " of the operands is $0 together, and the result's is $1.");
}

void BoundRules::pad(tensor::PadOp op) {
  const RankedTensorType type = op.getResultType();
  for (unsigned d = 0; d < type.getRank(); ++d) {
    const OpFoldResult low = op.getMixedLowPad()[d], high = op.getMixedHighPad()[d];
    for (const auto& [amount, side] : {std::pair(low, "before"), std::pair(high, "behind")}) {
      bounds_.at_most(location_, amount, constant(kPaddingMax),
                      name_of(op) + ": the padding " + side + " dimension " + Twine(d) + " is $0, of 0 to $1.");
    }
    if (type.isDynamicDim(d)) continue;
    const OpFoldResult sum =
        add_indices(builder_, location_, add_indices(builder_, location_, low, high), sizes_.of(op.getSource(), d));
    bounds_.equal(location_, sum, constant(type.getDimSize(d)),
                  name_of(op) + ": dimension " + Twine(d) + " is $0 with its padding, and the result's is $1.");
  }
}

// The parts of a dimension make the whole: as floats, which don't wrap round, and are exact as far as memory reaches.
void BoundRules::expand(tensor::ExpandShapeOp op) {
  const SmallVector<OpFoldResult> parts =
      mlir::getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), builder_);
  const auto groups = op.getReassociationIndices();
  for (unsigned d = 0; d < groups.size(); ++d) {
    const OpFoldResult whole = sizes_.of(op.getSrc(), d);
    if (groups[d].size() == 1) {
      bounds_.equal(location_, parts[static_cast<size_t>(groups[d][0])], whole,
                    name_of(op) + ": the size $0 is asked for dimension " + Twine(d) + ", which has $1.");
      continue;
    }
    bool all_known = mlir::getConstantIntValue(whole).has_value();
    OpFoldResult product = constant(1);
    SmallVector<OpFoldResult> sizes;
    for (const int64_t part : groups[d]) {
      sizes.push_back(parts[static_cast<size_t>(part)]);
      all_known &= mlir::getConstantIntValue(sizes.back()).has_value();
      product = multiply_indices(builder_, location_, product, sizes.back());
    }
    if (all_known) continue;  // The verifier has compared them.
    const Value holds = is_product(builder_, location_, sizes, whole);
    bounds_.require(location_, holds, Bounds::Fault::kInvalidArgument,
                    name_of(op) + ": the parts of dimension " + Twine(d) + " are $0 together, and it has $1.", product,
                    whole);
  }
}

// Rows that data choose; codegen keeps the indices inside, where there is something to be inside of.
void BoundRules::gather(tensor::GatherOp op) {
  SmallVector<OpFoldResult> extents;
  for (unsigned i = 0; i + 1 < rank_of(op.getIndices()); ++i) extents.push_back(sizes_.of(op.getIndices(), i));
  const Value nothing = runs_never(location_, extents);
  for (const int64_t dimension : op.getGatherDims()) {
    bounds_.below(
        location_, constant(0), sizes_.of(op.getSource(), static_cast<unsigned>(dimension)),
        name_of(op) + ": an element is asked of dimension " + Twine(dimension) + " of operand 0, which has $1.",
        nothing);
  }
}

}  // namespace baton::compiler_lite::schedule
