#include "compiler-lite/schedule/sliced_products.hpp"

#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::AffineMap;
using mlir::RankedTensorType;
using mlir::Value;

// Fewer columns are no product worth its name.
constexpr int64_t kColumnsMin = 64;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

// A dimension whose elements come in `count` parts of `size`.
struct Parts {
  unsigned dimension = 0;
  int64_t count = 0, size = 0;
};

// The product, what is made of it element by element, and the slices: other operations read nothing but these.
struct Chain {
  SmallVector<linalg::LinalgOp> operations;
  tensor::ExpandShapeOp view;  // Null: the slices are of the last operation's result.
  SmallVector<tensor::ExtractSliceOp> slices;
  Parts of_sliced, of_result;

  Value result() { return operations.back()->getResult(0); }
  Value sliced() { return view ? view.getResult() : result(); }
};

// The only dimension of which slices take less than all, if all of them take as much.
std::optional<Parts> parts_of(llvm::ArrayRef<tensor::ExtractSliceOp> slices) {
  std::optional<Parts> parts;
  for (tensor::ExtractSliceOp slice : slices) {
    const RankedTensorType type = slice.getSourceType();
    const auto is_dynamic = [](int64_t number) { return mlir::ShapedType::isDynamic(number); };
    if (!type.hasStaticShape() || llvm::any_of(slice.getStaticOffsets(), is_dynamic) ||
        llvm::any_of(slice.getStaticSizes(), is_dynamic) ||
        llvm::any_of(slice.getStaticStrides(), [](int64_t stride) { return stride != 1; })) {
      return std::nullopt;
    }
    SmallVector<unsigned> cut;
    for (unsigned d = 0; d < type.getRank(); ++d) {
      if (slice.getStaticSizes()[d] != type.getDimSize(d)) cut.push_back(d);
    }
    if (cut.size() != 1) return std::nullopt;
    const int64_t size = slice.getStaticSizes()[cut[0]], all = type.getDimSize(cut[0]);
    if (size == 0 || all % size != 0 || slice.getStaticOffsets()[cut[0]] % size != 0) return std::nullopt;
    if (parts && (parts->dimension != cut[0] || parts->size != size)) return std::nullopt;
    parts = Parts{cut[0], all / size, size};
  }
  return parts;
}

// The same parts of what `view` expands, if they follow each other there.
std::optional<Parts> parts_before(tensor::ExpandShapeOp view, const Parts& parts) {
  for (auto [dimension, group] : llvm::enumerate(view.getReassociationIndices())) {
    const auto* const at = llvm::find(group, parts.dimension);
    if (at == group.end()) continue;
    const auto size_of = [&](int64_t d) { return type_of(view.getResult()).getDimSize(static_cast<unsigned>(d)); };
    int64_t size = parts.size;
    for (const auto* each = group.begin(); each != at; ++each) {
      if (size_of(*each) != 1) return std::nullopt;
    }
    for (const auto* each = at + 1; each != group.end(); ++each) size *= size_of(*each);
    return Parts{static_cast<unsigned>(dimension), parts.count, size};
  }
  return std::nullopt;
}

bool is_of_tensors(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 && type_of(op->getResult(0)).hasStaticShape();
}

// Which dimensions of a slice each of its type's is, since some of one element may be dropped.
std::optional<SmallVector<mlir::ReassociationIndices>> dropped_by(tensor::ExtractSliceOp slice) {
  return mlir::getReassociationIndicesForCollapse(slice.getStaticSizes(), slice.getType().getShape());
}

// What makes one tensor of the value element by element.
linalg::GenericOp reader_of(Value value) {
  auto op = llvm::dyn_cast<linalg::GenericOp>(*value.user_begin());
  const bool is_reader =
      op && is_of_tensors(op) && op.getNumReductionLoops() == 0 && llvm::is_contained(op.getInputs(), value);
  return is_reader ? op : linalg::GenericOp();
}

std::optional<Chain> find_chain(linalg::LinalgOp product) {
  if (!is_of_tensors(product) || !codegen::product_form(product)) return std::nullopt;
  Chain chain;
  chain.operations.push_back(product);
  while (chain.result().hasOneUse()) {
    linalg::GenericOp reader = reader_of(chain.result());
    if (!reader) break;
    chain.operations.push_back(reader);
  }
  if (chain.result().hasOneUse()) chain.view = llvm::dyn_cast<tensor::ExpandShapeOp>(*chain.result().user_begin());
  for (mlir::Operation* user : chain.sliced().getUsers()) {
    auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || (slice.getStaticSizes() != slice.getType().getShape() && !dropped_by(slice))) return std::nullopt;
    chain.slices.push_back(slice);
  }
  const std::optional<Parts> parts = parts_of(chain.slices);
  if (!parts) return std::nullopt;
  const std::optional<Parts> before = chain.view ? parts_before(chain.view, *parts) : parts;
  if (!before || before->size < kColumnsMin) return std::nullopt;
  chain.of_sliced = *parts;
  chain.of_result = *before;
  // Slices of the first dimension lie as a whole already.
  const llvm::ArrayRef<int64_t> shape = type_of(chain.result()).getShape();
  const bool lie_whole = llvm::all_of(shape.take_front(before->dimension), [](int64_t size) { return size == 1; });
  return lie_whole ? std::nullopt : std::optional(chain);
}

// Makes a chain's operations again with a loop more, the first, over the parts.
class Division {
 public:
  Division(mlir::IRRewriter& rewriter, Chain& chain) : rewriter_(rewriter), chain_(chain) {}

  // Null: they can't have it.
  Value divide() {
    unsigned dimension = chain_.of_result.dimension;
    SmallVector<unsigned> loops;  // Of each operation, the one that is divided.
    for (linalg::LinalgOp op : llvm::reverse(chain_.operations)) {
      const std::optional<unsigned> loop = divisible_loop(op, dimension);
      if (!loop) return {};
      loops.push_back(*loop);
      if (op == chain_.operations.front()) break;
      const std::optional<unsigned> before = dimension_before(op, *loop);
      if (!before) return {};
      dimension = *before;
    }
    Value made;
    for (auto [op, loop] : llvm::zip_equal(chain_.operations, llvm::reverse(loops))) made = remake(op, loop, made);
    return made;
  }

 private:
  // What a chain's operation reads of the one before it.
  Value before(linalg::LinalgOp op) {
    const auto* const at = llvm::find(chain_.operations, op);
    return at == chain_.operations.begin() ? Value() : (*(at - 1))->getResult(0);
  }

  // The loop over a dimension of the result, where all operands have it as a dimension of their own or not at all.
  std::optional<unsigned> divisible_loop(linalg::LinalgOp op, unsigned dimension) {
    const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(result.getResult(dimension));
    if (!loop || !result.isProjectedPermutation()) return std::nullopt;
    const Value init = op.getDpsInits()[0];
    if (!init.getDefiningOp<linalg::FillOp>() && !init.getDefiningOp<tensor::EmptyOp>()) return std::nullopt;
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      if (!llvm::isa<RankedTensorType>(operand.get().getType())) continue;
      for (const mlir::AffineExpr index : op.getMatchingIndexingMap(&operand).getResults()) {
        if (index.isFunctionOfDim(loop.getPosition()) && index != loop) return std::nullopt;
      }
    }
    const bool asks =
        op.getBlock()
            ->walk([&](linalg::IndexOp index) {
              return index.getDim() == loop.getPosition() ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
            })
            .wasInterrupted();
    return asks ? std::nullopt : std::optional(loop.getPosition());
  }

  std::optional<unsigned> dimension_before(linalg::LinalgOp op, unsigned loop) {
    std::optional<unsigned> found;
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      if (operand.get() != before(op)) continue;
      const AffineMap map = op.getMatchingIndexingMap(&operand);
      const std::optional<unsigned> at = map.getResultPosition(mlir::getAffineDimExpr(loop, map.getContext()));
      if (!at || found || !op.isDpsInput(&operand) || !map.isProjectedPermutation()) return std::nullopt;
      found = at;
    }
    return found;
  }

  // The parts before all other dimensions.
  SmallVector<int64_t> divided_shape(llvm::ArrayRef<int64_t> shape, unsigned dimension) {
    SmallVector<int64_t> divided{chain_.of_result.count};
    llvm::append_range(divided, shape);
    divided[dimension + 1] = chain_.of_result.size;
    return divided;
  }

  // An operand whose dimension is two now.
  Value expand(Value operand, unsigned dimension) {
    const RankedTensorType type = type_of(operand);
    SmallVector<int64_t> shape(type.getShape());
    shape[dimension] = chain_.of_result.size;
    shape.insert(shape.begin() + dimension, chain_.of_result.count);
    SmallVector<mlir::ReassociationIndices> groups;
    for (unsigned d = 0, at = 0; d < type.getRank(); ++d, ++at) {
      groups.push_back({at});
      if (d == dimension) groups.back().push_back(++at);
    }
    return rewriter_.create<tensor::ExpandShapeOp>(operand.getLoc(), type.clone(shape), operand, groups);
  }

  Value make_init(linalg::LinalgOp op, unsigned dimension) {
    const Value init = op.getDpsInits()[0];
    const RankedTensorType type = type_of(init);
    const Value empty = rewriter_.create<tensor::EmptyOp>(op.getLoc(), divided_shape(type.getShape(), dimension),
                                                          type.getElementType());
    auto fill = init.getDefiningOp<linalg::FillOp>();
    return fill ? rewriter_.create<linalg::FillOp>(op.getLoc(), fill.value(), empty).getResult(0) : empty;
  }

  Value remake(linalg::LinalgOp op, unsigned loop, Value made) {
    rewriter_.setInsertionPoint(op);
    mlir::MLIRContext* const context = op.getContext();
    const unsigned loops = op.getNumLoops();
    const auto part = mlir::getAffineDimExpr(0, context);
    const auto shifted = [&](AffineMap map) { return map.shiftDims(1); };
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (mlir::OpOperand* operand : op.getDpsInputOperands()) {
      const AffineMap map = op.getMatchingIndexingMap(operand);
      const std::optional<unsigned> at = map.getResultPosition(mlir::getAffineDimExpr(loop, context));
      SmallVector<mlir::AffineExpr> indices(shifted(map).getResults());
      Value value = operand->get();
      if (made && value == before(op)) {
        value = made;
        indices.insert(indices.begin(), part);
      } else if (at) {
        value = expand(value, *at);
        indices.insert(indices.begin() + *at, part);
      }
      inputs.push_back(value);
      maps.push_back(AffineMap::get(loops + 1, 0, indices, context));
    }
    const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    SmallVector<mlir::AffineExpr> indices(shifted(result).getResults());
    indices.insert(indices.begin(), part);
    maps.push_back(AffineMap::get(loops + 1, 0, indices, context));
    const Value init = make_init(op, *result.getResultPosition(mlir::getAffineDimExpr(loop, context)));
    SmallVector<mlir::utils::IteratorType> kinds{mlir::utils::IteratorType::parallel};
    llvm::append_range(kinds, op.getIteratorTypesArray());
    auto generic = rewriter_.create<linalg::GenericOp>(op.getLoc(), init.getType(), inputs, init, maps, kinds);
    rewriter_.cloneRegionBefore(op->getRegion(0), generic.getRegion(), generic.getRegion().begin());
    generic.getBody()->walk([&](linalg::IndexOp index) { index.setDim(index.getDim() + 1); });
    return generic.getResult(0);
  }

  mlir::IRRewriter& rewriter_;
  Chain& chain_;
};

// A part as the slice was.
Value read_part(mlir::IRRewriter& rewriter, Chain& chain, tensor::ExtractSliceOp slice, Value divided) {
  const mlir::Location location = slice.getLoc();
  rewriter.setInsertionPoint(slice);
  const RankedTensorType type = type_of(divided);
  const int64_t number = slice.getStaticOffsets()[chain.of_sliced.dimension] / chain.of_sliced.size;
  const auto attributes = [&](llvm::ArrayRef<int64_t> numbers) {
    return mlir::getAsIndexOpFoldResult(rewriter.getContext(), numbers);
  };
  SmallVector<int64_t> sizes(type.getShape()), offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets[0] = number;
  sizes[0] = 1;
  Value part = rewriter.create<tensor::ExtractSliceOp>(location, type.clone(type.getShape().drop_front()), divided,
                                                       attributes(offsets), attributes(sizes), attributes(strides));
  SmallVector<int64_t> shape(slice.getStaticSizes());
  if (chain.view) {
    part =
        rewriter.create<tensor::ExpandShapeOp>(location, type.clone(shape), part, chain.view.getReassociationIndices());
  }
  const RankedTensorType wanted = slice.getType();
  if (part.getType() == wanted) return part;
  return rewriter.create<tensor::CollapseShapeOp>(location, wanted, part, *dropped_by(slice));
}

}  // namespace

mlir::LogicalResult divide_products(mlir::ModuleOp module) {
  mlir::IRRewriter rewriter(module.getContext());
  SmallVector<linalg::LinalgOp> products;
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    function.walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() != 0) products.push_back(op);
    });
  }
  for (linalg::LinalgOp product : products) {
    std::optional<Chain> chain = find_chain(product);
    if (!chain) continue;
    const Value divided = Division(rewriter, *chain).divide();
    if (!divided) continue;
    for (tensor::ExtractSliceOp slice : chain->slices) {
      rewriter.replaceOp(slice, read_part(rewriter, *chain, slice, divided));
    }
    if (chain->view) rewriter.eraseOp(chain->view);
    for (linalg::LinalgOp op : llvm::reverse(chain->operations)) rewriter.eraseOp(op);
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
