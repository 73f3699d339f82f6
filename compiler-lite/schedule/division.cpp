#include "compiler-lite/schedule/division.hpp"

#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

namespace {

RankedTensorType type_of(Value value) { return llvm::dyn_cast<RankedTensorType>(value.getType()); }

RankedTensorType with_size(RankedTensorType type, unsigned dimension, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = size;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

// Operations of a linalg operation's body are its own, not the loop's.
bool is_in_body(Operation* op) {
  return llvm::isa<linalg::LinalgOp>(op->getParentOp()) || op->getParentOfType<linalg::LinalgOp>();
}

// For each dimension of what is sliced, that of the slice; nothing for one that the slice has not.
SmallVector<std::optional<unsigned>> slice_dimensions(const llvm::SmallBitVector& dropped) {
  SmallVector<std::optional<unsigned>> dimensions;
  unsigned next = 0;
  for (unsigned i = 0; i < dropped.size(); ++i) {
    dimensions.push_back(dropped.test(i) ? std::nullopt : std::optional(next++));
  }
  return dimensions;
}

// Pairs (narrow, wide): dimensions of `narrow`, and the dimension of `wide` that each is equal to, apart from
// dimensions of size one.
SmallVector<std::pair<unsigned, unsigned>> reshaped_alone(llvm::ArrayRef<mlir::ReassociationIndices> groups,
                                                          RankedTensorType wide) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  for (const auto& [narrow, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> large;
    for (const int64_t dimension : group) {
      if (wide.getDimSize(static_cast<unsigned>(dimension)) != 1) large.push_back(dimension);
    }
    if (large.size() == 1) pairs.emplace_back(static_cast<unsigned>(narrow), static_cast<unsigned>(large[0]));
  }
  return pairs;
}

void set_size(Operation* op, llvm::StringRef attribute, unsigned dimension, int64_t size) {
  SmallVector<int64_t> sizes(op->getAttrOfType<mlir::DenseI64ArrayAttr>(attribute).asArrayRef());
  sizes[dimension] = size;
  op->setAttr(attribute, mlir::DenseI64ArrayAttr::get(op->getContext(), sizes));
}

}  // namespace

std::optional<Division> Division::find(mlir::LoopLikeOpInterface loop, Value tensor, unsigned dimension) {
  Division division(loop);
  loop->walk([&](Operation* op) {
    if (!is_in_body(op)) division.connect(op);
  });
  if (!division.choose(tensor, dimension)) return std::nullopt;
  bool is_apart = true;
  loop->walk([&](Operation* op) {
    if (!is_in_body(op)) is_apart = is_apart && division.keeps_apart(op);
  });
  return is_apart ? std::optional(std::move(division)) : std::nullopt;
}

std::optional<unsigned> Division::dimension_of(Value value) const {
  const auto found = dimensions_.find(value);
  return found == dimensions_.end() ? std::nullopt : std::optional(found->second);
}

// What belongs together -----------------------------------------------------------------------------------------------------

void Division::connect_all(Value a, Value b) {
  const RankedTensorType type = type_of(a);
  for (unsigned i = 0; type && i < type.getRank(); ++i) connect(a, i, b, i);
}

void Division::connect_lists(mlir::ValueRange a, mlir::ValueRange b) {
  for (auto [one, other] : llvm::zip_equal(a, b)) connect_all(one, other);
}

void Division::connect(linalg::LinalgOp op) {
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(i));
      if (loop) same_.unionSets(place(operand.get(), i), place(op, loop.getPosition()));
    }
  }
  connect_lists(op.getDpsInits(), op->getResults());
  op->walk([&](tensor::ExtractOp read) {
    for (const auto& [i, value] : llvm::enumerate(read.getIndices())) {
      auto index = value.getDefiningOp<linalg::IndexOp>();
      if (!index || index->getParentOp() != op.getOperation()) continue;
      same_.unionSets(place(read.getTensor(), static_cast<unsigned>(i)),
                      place(op, static_cast<unsigned>(index.getDim())));
    }
  });
}

bool Division::connect_regions(Operation* op) {
  if (auto loop = llvm::dyn_cast<scf::ForOp>(op)) {
    connect_lists(loop.getInitArgs(), loop.getRegionIterArgs());
    connect_lists(loop.getInitArgs(), loop.getYieldedValues());
    connect_lists(loop.getInitArgs(), loop.getResults());
  } else if (auto unknown = llvm::dyn_cast<scf::WhileOp>(op)) {
    connect_lists(unknown.getInits(), unknown.getBeforeArguments());
    connect_lists(unknown.getInits(), unknown.getYieldOp().getOperands());
    connect_lists(unknown.getConditionOp().getArgs(), unknown.getAfterArguments());
    connect_lists(unknown.getConditionOp().getArgs(), unknown.getResults());
  } else if (auto branch = llvm::dyn_cast<scf::IfOp>(op)) {
    if (!branch.elseBlock()) return true;
    connect_lists(branch.thenYield().getOperands(), branch.getResults());
    connect_lists(branch.elseYield().getOperands(), branch.getResults());
  } else {
    return false;
  }
  return true;
}

void Division::connect(Operation* op) {
  if (auto loops = llvm::dyn_cast<linalg::LinalgOp>(op)) return connect(loops);
  if (connect_regions(op)) return;
  if (auto read = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) {
    for (const auto& [i, j] : llvm::enumerate(slice_dimensions(read.getDroppedDims()))) {
      if (j) connect(read.getSource(), static_cast<unsigned>(i), read.getResult(), *j);
    }
  } else if (auto write = llvm::dyn_cast<tensor::InsertSliceOp>(op)) {
    for (const auto& [i, j] : llvm::enumerate(slice_dimensions(write.getDroppedDims()))) {
      if (j) connect(write.getDest(), static_cast<unsigned>(i), write.getSource(), *j);
    }
    connect_all(write.getDest(), write.getResult());
  } else if (auto element = llvm::dyn_cast<tensor::InsertOp>(op)) {
    connect_all(element.getDest(), element.getResult());
  } else if (auto wider = llvm::dyn_cast<tensor::ExpandShapeOp>(op)) {
    for (const auto& [narrow, wide] : reshaped_alone(wider.getReassociationIndices(), wider.getResultType())) {
      connect(wider.getSrc(), narrow, wider.getResult(), wide);
    }
  } else if (auto narrower = llvm::dyn_cast<tensor::CollapseShapeOp>(op)) {
    for (const auto& [narrow, wide] : reshaped_alone(narrower.getReassociationIndices(), narrower.getSrcType())) {
      connect(narrower.getSrc(), wide, narrower.getResult(), narrow);
    }
  } else if (auto pad = llvm::dyn_cast<tensor::PadOp>(op)) {
    connect_all(pad.getSource(), pad.getResult());
  } else if (auto joined = llvm::dyn_cast<tensor::ConcatOp>(op)) {
    for (const Value input : joined.getInputs()) {
      for (unsigned i = 0; i < joined.getRank(); ++i) {
        if (i != joined.getDim()) connect(input, i, joined.getResult(), i);
      }
    }
  } else if (op->hasTrait<mlir::OpTrait::Elementwise>() && op->getNumResults() == 1 && is_tensor(op->getResult(0))) {
    for (const Value operand : op->getOperands()) {
      if (is_tensor(operand)) connect_all(operand, op->getResult(0));
    }
  }
}

// Whether it is one dimension ------------------------------------------------------------------------------------------------

// All of what belongs together has one size, and each tensor has it once.
bool Division::choose(Value tensor, unsigned dimension) {
  size_ = type_of(tensor).getDimSize(dimension);
  const auto leader = same_.findLeader(place(tensor, dimension));
  if (leader == same_.member_end()) return false;
  const auto has = [&](Place place) {
    const auto other = same_.findLeader(place);
    return other != same_.member_end() && *other == *leader;
  };
  bool is_one = true;
  const auto note_value = [&](Value value) {
    const RankedTensorType type = type_of(value);
    for (unsigned i = 0; type && i < type.getRank(); ++i) {
      if (!has(place(value, i))) continue;
      const bool is_new = dimensions_.try_emplace(value, i).first->second == i;
      is_one = is_one && is_new && type.getDimSize(i) == size_;
    }
  };
  loop_->walk([&](Operation* op) {
    for (const Value value : op->getOperands()) note_value(value);
    for (const Value value : op->getResults()) note_value(value);
    if (llvm::isa<linalg::LinalgOp>(op)) {
      auto loops = llvm::cast<linalg::LinalgOp>(op);
      for (unsigned i = 0; i < loops.getNumLoops(); ++i) {
        if (has(place(op, i))) is_one = is_one && loops_.try_emplace(op, i).first->second == i;
      }
      return;
    }
    for (mlir::Region& region : op->getRegions()) {
      for (mlir::Block& block : region) {
        for (const Value value : block.getArguments()) note_value(value);
      }
    }
  });
  return is_one;
}

bool Division::keeps_apart(linalg::LinalgOp op) const {
  const auto loop = loops_.find(op);
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      const mlir::AffineExpr place = map.getResult(i);
      const bool is_ours = loop != loops_.end() && place.isFunctionOfDim(loop->second);
      if (is_ours != is_dimension(operand.get(), i) || (is_ours && !llvm::isa<mlir::AffineDimExpr>(place)))
        return false;
    }
  }
  if (loop != loops_.end() && op.getIteratorTypesArray()[loop->second] != mlir::utils::IteratorType::parallel)
    return false;
  bool is_apart = true;
  op->walk([&](Operation* inner) {
    if (inner == op.getOperation()) return;
    auto read = llvm::dyn_cast<tensor::ExtractOp>(inner);
    for (const auto& [i, value] : llvm::enumerate(inner->getOperands())) {
      const std::optional<unsigned> dimension = dimension_of(value);
      if (!dimension) continue;
      auto index = read && i == 0 ? read.getIndices()[*dimension].getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
      is_apart = is_apart && index && loop != loops_.end() && index->getParentOp() == op.getOperation() &&
                 index.getDim() == loop->second;
    }
  });
  return is_apart;
}

// Whether the slice has all of the dimension.
bool Division::has_whole(Value whole, mlir::OffsetSizeAndStrideOpInterface slice) const {
  const std::optional<unsigned> dimension = dimension_of(whole);
  if (!dimension) return true;
  return mlir::getConstantIntValue(slice.getMixedOffsets()[*dimension]) == 0 &&
         mlir::getConstantIntValue(slice.getMixedSizes()[*dimension]) == size_ &&
         mlir::getConstantIntValue(slice.getMixedStrides()[*dimension]) == 1;
}

bool Division::keeps_apart(Operation* op) const {
  if (auto loops = llvm::dyn_cast<linalg::LinalgOp>(op)) return keeps_apart(loops);
  const auto has = [&](Value value) { return dimension_of(value).has_value(); };
  const bool is_concerned = llvm::any_of(op->getOperands(), has) || llvm::any_of(op->getResults(), has);
  if (!is_concerned || llvm::isa<scf::SCFDialect>(op->getDialect())) return true;
  if (llvm::isa<tensor::EmptyOp, tensor::SplatOp>(op)) return true;
  const auto agree = [&](Value one, Value other) { return has(one) == has(other); };
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op))
    return llvm::isa<mlir::SplatElementsAttr>(constant.getValue());
  if (auto read = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) {
    return agree(read.getSource(), read.getResult()) && has_whole(read.getSource(), read);
  }
  if (auto write = llvm::dyn_cast<tensor::InsertSliceOp>(op)) {
    return agree(write.getDest(), write.getSource()) && has_whole(write.getDest(), write);
  }
  if (llvm::isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) return agree(op->getOperand(0), op->getResult(0));
  if (auto pad = llvm::dyn_cast<tensor::PadOp>(op)) {
    const unsigned dimension = *dimension_of(pad.getResult());
    return mlir::getConstantIntValue(pad.getMixedLowPad()[dimension]) == 0 &&
           mlir::getConstantIntValue(pad.getMixedHighPad()[dimension]) == 0 && pad.getConstantPaddingValue();
  }
  if (llvm::isa<tensor::ConcatOp>(op)) return llvm::all_of(op->getOperands(), has) && has(op->getResult(0));
  return op->hasTrait<mlir::OpTrait::Elementwise>() && op->getNumRegions() == 0;
}

// A copy for fewer ----------------------------------------------------------------------------------------------------------

void Division::narrow(const mlir::IRMapping& values, Value first, int64_t length) const {
  for (const auto& [value, dimension] : dimensions_) {
    Value copy = values.lookupOrNull(value);
    if (!copy) continue;
    copy.setType(with_size(type_of(value), dimension, length));
    if (auto constant = copy.getDefiningOp<arith::ConstantOp>()) {
      auto elements = llvm::cast<mlir::SplatElementsAttr>(constant.getValue());
      constant.setValueAttr(elements.resizeSplat(llvm::cast<mlir::ShapedType>(copy.getType())));
    }
  }
  loop_->walk([&](Operation* op) {
    if (!is_in_body(op)) narrow(op, values.lookup(op), first, length);
  });
}

void Division::narrow(Operation* op, Operation* copy, Value first, int64_t length) const {
  if (auto loops = llvm::dyn_cast<linalg::LinalgOp>(op)) {
    if (loops_.contains(op)) narrow_indices(loops, llvm::cast<linalg::LinalgOp>(copy), first);
  } else if (auto read = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (const auto dimension = dimension_of(read.getSource())) set_size(copy, "static_sizes", *dimension, length);
  } else if (auto write = llvm::dyn_cast<tensor::InsertSliceOp>(op)) {
    if (const auto dimension = dimension_of(write.getDest())) set_size(copy, "static_sizes", *dimension, length);
  } else if (auto wider = llvm::dyn_cast<tensor::ExpandShapeOp>(op)) {
    if (const auto dimension = dimension_of(wider.getResult()))
      set_size(copy, "static_output_shape", *dimension, length);
  }
}

// Bodies see the numbers that items have among all of them; what they read of theirs begins with the first one.
void Division::narrow_indices(linalg::LinalgOp op, linalg::LinalgOp copy, Value first) const {
  const uint64_t loop = loops_.lookup(op);
  SmallVector<linalg::IndexOp> indices;
  copy->walk([&](linalg::IndexOp index) {
    if (index.getDim() == loop && index->getParentOp() == copy.getOperation()) indices.push_back(index);
  });
  for (linalg::IndexOp index : indices) {
    mlir::OpBuilder builder(index->getContext());
    builder.setInsertionPointAfter(index);
    auto whole = builder.create<arith::AddIOp>(index.getLoc(), index, first);
    index.getResult().replaceUsesWithIf(whole, [&](mlir::OpOperand& use) {
      auto read = llvm::dyn_cast<tensor::ExtractOp>(use.getOwner());
      if (use.getOwner() == whole) return false;
      if (!read || use.getOperandNumber() == 0) return true;
      // The tensor is one of the copy, whose dimension is narrower where the division is along it.
      return type_of(read.getTensor()).getDimSize(use.getOperandNumber() - 1) == size_;
    });
  }
}

}  // namespace baton::compiler_lite::schedule
