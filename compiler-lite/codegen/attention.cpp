#include "compiler-lite/codegen/attention.hpp"

#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using linalg::GenericOp;
using linalg::LinalgOp;
using mlir::Value;

// The operand that a value of the body is, apart from its type; null: it is computed.
mlir::OpOperand* operand_of(GenericOp op, Value value) {
  const auto argument = llvm::dyn_cast<mlir::BlockArgument>(without_casts(value));
  if (!argument || argument.getOwner() != op.getBody()) return nullptr;
  return op.getMatchingOpOperand(argument);
}

// What reads other tensors by indices of its own can't be moved to memrefs by its operands.
bool reads_by_index(GenericOp op) {
  return op
      .walk([&](mlir::Operation* inner) {
        const bool reads = inner != op && llvm::any_of(inner->getOperandTypes(), [](mlir::Type type) {
                             return llvm::isa<mlir::ShapedType>(type);
                           });
        return reads ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

bool is_elementwise(GenericOp op) {
  return op && !reads_by_index(op) && op->getNumResults() <= 1 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() == 0 && op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

// Whether two maps read the same but for one dimension, which the second lacks.
std::optional<unsigned> dropped_dimension(mlir::AffineMap whole, mlir::AffineMap part) {
  if (!whole.isIdentity() || part.getNumResults() + 1 != whole.getNumResults()) return std::nullopt;
  unsigned at = 0;
  while (at < part.getNumResults() && part.getResult(at) == whole.getResult(at)) ++at;
  for (unsigned i = at; i < part.getNumResults(); ++i) {
    if (part.getResult(i) != whole.getResult(i + 1)) return std::nullopt;
  }
  return at;
}

// Over one dimension of what it reads in order: the operation, the operand and the dimension.
struct Reduction {
  mlir::OpOperand* operand = nullptr;
  unsigned dimension = 0;
};
template <typename... Ops>
std::optional<Reduction> reduction_by(GenericOp op) {
  if (!op || op.getNumDpsInits() != 1 || op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 1) {
    return std::nullopt;
  }
  mlir::OpOperand& input = op->getOpOperand(0);
  mlir::OpOperand& init = *op.getDpsInitOperand(0);
  const auto dimension = dropped_dimension(op.getMatchingIndexingMap(&input), op.getMatchingIndexingMap(&init));
  mlir::Operation* combined = yielded(op).getDefiningOp();
  if (!dimension || !combined || !llvm::isa<Ops...>(combined)) return std::nullopt;
  mlir::OpOperand* sides[2] = {operand_of(op, combined->getOperand(0)), operand_of(op, combined->getOperand(1))};
  const bool joins = (sides[0] == &input && sides[1] == &init) || (sides[0] == &init && sides[1] == &input);
  return joins ? std::optional(Reduction{&input, *dimension}) : std::nullopt;
}

// Element by element over two operands: all of the first, and one number of the second for each row.
struct OfRows {
  mlir::OpOperand *element = nullptr, *number = nullptr;
  unsigned dimension = 0;
};
std::optional<OfRows> of_rows(GenericOp op, mlir::Operation* computed) {
  if (!computed || computed->getNumOperands() != 2) return std::nullopt;
  const OfRows found{operand_of(op, computed->getOperand(0)), operand_of(op, computed->getOperand(1)), 0};
  if (!found.element || !found.number) return std::nullopt;
  const auto dimension =
      dropped_dimension(op.getMatchingIndexingMap(found.element), op.getMatchingIndexingMap(found.number));
  return dimension ? std::optional(OfRows{found.element, found.number, *dimension}) : std::nullopt;
}

bool has_pure_maps(LinalgOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](mlir::AffineMap map) { return map.isProjectedPermutation(); });
}

class Finder {
 public:
  Finder(LinalgOp root, Producer producer) : root_(root), producer_(producer) {}

  std::optional<Attention> run() {
    if (find_mixed() && find_softmax() && find_scores() && find_row() && find_sizes() && begins_well()) return found_;
    return std::nullopt;
  }

 private:
  GenericOp generic_of(Value value) {
    LinalgOp op = producer_(value);
    return op ? llvm::dyn_cast<GenericOp>(op.getOperation()) : GenericOp();
  }

  // The second product is the last operation, or what the last one reads element by element.
  bool find_mixed() {
    if (sums_products(root_)) {
      found_.mixed = root_;
      return true;
    }
    auto last = llvm::dyn_cast<GenericOp>(root_.getOperation());
    if (!is_elementwise(last)) return false;
    for (mlir::OpOperand* operand : last.getDpsInputOperands()) {
      LinalgOp product = producer_(operand->get());
      if (!product || !sums_products(product) || !last.getMatchingIndexingMap(operand).isPermutation()) continue;
      if (last.getMatchingIndexingMap(operand).getNumResults() != last.getNumLoops()) continue;
      found_.mixed = product;
      found_.last = last;
      return true;
    }
    return false;
  }

  bool find_softmax() {
    for (unsigned i = 0; i < 2; ++i) {
      if (!find_softmax_in(found_.mixed->getOperand(i))) continue;
      found_.weights = i;
      found_.v = 1 - i;
      return true;
    }
    return false;
  }

  bool find_softmax_in(Value weights) {
    found_.share = generic_of(weights);
    if (!is_elementwise(found_.share)) return false;
    mlir::Operation* division = yielded(found_.share).getDefiningOp();
    if (!division || !llvm::isa<arith::DivFOp>(division)) return false;
    const auto share = of_rows(found_.share, division);
    if (!share) return false;
    found_.exponent = generic_of(share->element->get());
    found_.sum = generic_of(share->number->get());
    const auto sum = reduction_by<arith::AddFOp>(found_.sum);
    if (!is_elementwise(found_.exponent) || !sum || sum->operand->get() != share->element->get()) return false;
    mlir::Operation* power = yielded(found_.exponent).getDefiningOp();
    if (!power || !llvm::isa<mlir::math::ExpOp>(power)) return false;
    mlir::Operation* difference = without_casts(power->getOperand(0)).getDefiningOp();
    if (!difference || !llvm::isa<arith::SubFOp>(difference)) return false;
    const auto exponent = of_rows(found_.exponent, difference);
    if (!exponent) return false;
    found_.maximum = generic_of(exponent->number->get());
    const auto maximum = reduction_by<arith::MaximumFOp, arith::MaxNumFOp>(found_.maximum);
    if (!maximum || maximum->operand->get() != exponent->element->get()) return false;
    found_.key = share->dimension;
    found_.rank = found_.share.getNumLoops();
    softmax_of_ = exponent->element->get();
    return sum->dimension == found_.key && exponent->dimension == found_.key && maximum->dimension == found_.key;
  }

  bool find_scores() {
    LinalgOp op = producer_(softmax_of_);
    const auto in_order = llvm::seq(0u, found_.rank);
    found_.order.assign(in_order.begin(), in_order.end());
    if (op && sums_products(op)) {
      found_.scores = op;
      return true;
    }
    found_.masked = op ? llvm::dyn_cast<GenericOp>(op.getOperation()) : GenericOp();
    if (!is_elementwise(found_.masked)) return false;
    for (mlir::OpOperand* operand : found_.masked.getDpsInputOperands()) {
      LinalgOp product = producer_(operand->get());
      const mlir::AffineMap map = found_.masked.getMatchingIndexingMap(operand);
      if (!product || !sums_products(product) || !map.isPermutation()) continue;
      if (found_.scores) return false;
      found_.scores = product;
      for (unsigned i = 0; i < map.getNumResults(); ++i) found_.order[map.getDimPosition(i)] = i;
    }
    return static_cast<bool>(found_.scores);
  }

  // The loop of a product that a dimension of the scores is.
  unsigned loop_of_score(unsigned dimension) {
    return found_.scores.getIndexingMapsArray()[2].getDimPosition(found_.order[dimension]);
  }
  bool moves(unsigned operand, unsigned dimension) {
    return found_.scores.getIndexingMapsArray()[operand].isFunctionOfDim(loop_of_score(dimension));
  }

  // The longest dimension that moves Q alone; a single query has none.
  bool find_row() {
    if (!has_pure_maps(found_.scores) || !has_pure_maps(found_.mixed)) return false;
    if (found_.scores.getNumReductionLoops() != 1 || found_.mixed.getNumReductionLoops() != 1) return false;
    if (moves(0, found_.key) == moves(1, found_.key)) return false;
    found_.k = moves(0, found_.key) ? 0 : 1;
    found_.q = 1 - found_.k;
    std::optional<unsigned> best;
    const llvm::SmallVector<int64_t> sizes = found_.scores.getStaticLoopRanges();
    const auto size = [&](unsigned dimension) {
      const int64_t known = sizes[loop_of_score(dimension)];
      return mlir::ShapedType::isDynamic(known) ? kAttentionRows : known;
    };
    const mlir::AffineMap weights = found_.mixed.getIndexingMapsArray()[found_.weights],
                          v = found_.mixed.getIndexingMapsArray()[found_.v];
    for (unsigned i = 0; i < found_.rank; ++i) {
      if (i == found_.key || moves(found_.k, i) || v.isFunctionOfDim(weights.getDimPosition(i))) continue;
      if (!best || size(i) >= size(*best)) best = i;
    }
    found_.row = best.value_or(Attention::kNoRow);
    found_.rows = best ? sizes[loop_of_score(*best)] : 1;
    found_.keys = sizes[loop_of_score(found_.key)];
    for (unsigned i = 0; i < found_.rank; ++i) {
      if (i != found_.key && i != found_.row) found_.batches = product_of(found_.batches, sizes[loop_of_score(i)]);
    }
    return true;
  }

  static int64_t product_of(int64_t a, int64_t b) {
    const bool is_open = mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b);
    return is_open ? mlir::ShapedType::kDynamic : a * b;
  }

  bool find_sizes() {
    const auto kinds = found_.mixed.getIteratorTypesArray();
    const mlir::AffineMap weights = found_.mixed.getIndexingMapsArray()[found_.weights];
    if (weights.getNumResults() != found_.rank) return false;
    if (kinds[weights.getDimPosition(found_.key)] != mlir::utils::IteratorType::reduction) return false;
    // One loop of each is not among the scores' dimensions.
    if (found_.scores.getNumLoops() != found_.rank + 1 || found_.mixed.getNumLoops() != found_.rank + 1) return false;
    found_.depth = size_of(found_.scores, found_.scores.getIndexingMapsArray()[found_.q]);
    found_.width = size_of(found_.mixed, found_.mixed.getIndexingMapsArray()[found_.v]);
    if (found_.depth <= 0 || found_.width <= 0) return false;
    const mlir::Type element = mlir::getElementTypeOrSelf(found_.scores->getOperand(0).getType());
    return llvm::all_of(llvm::ArrayRef<Value>{found_.scores->getOperand(1), found_.mixed->getOperand(found_.v)},
                        [&](Value each) { return mlir::getElementTypeOrSelf(each.getType()) == element; });
  }

  // Of the loop that is none of the scores'; less than 1: unknown, or the operand hasn't got it.
  int64_t size_of(LinalgOp product, mlir::AffineMap map) {
    const llvm::SmallVector<unsigned> dimensions = found_.dimensions_of(product, map);
    for (unsigned i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i] == found_.rank) return product.getStaticLoopRanges()[map.getDimPosition(i)];
    }
    return 0;
  }

  // Sums with zero, the maximum with the least number, all others with nothing. On memrefs it has been seen before.
  bool begins_well() {
    return llvm::all_of(found_.operations(), [&](LinalgOp op) {
      if (!op.hasPureTensorSemantics()) return true;
      const Value begin = op.getDpsInits()[0];
      auto fill = begin.getDefiningOp<linalg::FillOp>();
      const Value tensor = fill ? fill.getOutputs()[0] : begin;
      if (!tensor.getDefiningOp<mlir::tensor::EmptyOp>()) return false;
      if (op.getNumReductionLoops() == 0) return true;
      if (!fill) return false;
      if (op != found_.maximum) return mlir::matchPattern(fill.value(), mlir::m_AnyZeroFloat());
      mlir::FloatAttr least;
      return mlir::matchPattern(fill.value(), mlir::m_Constant(&least)) && is_least(least.getValue());
    });
  }
  static bool is_least(const llvm::APFloat& number) {
    return number.isNegative() && (number.isInfinity() || number.isLargest());
  }

  LinalgOp root_;
  Producer producer_;
  Value softmax_of_;
  Attention found_;
};

}  // namespace

Value without_casts(Value value) {
  while (llvm::isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp())) {
    value = value.getDefiningOp()->getOperand(0);
  }
  return value;
}

Value yielded(GenericOp op) { return without_casts(op.getBody()->getTerminator()->getOperand(0)); }

llvm::SmallVector<unsigned> Attention::dimensions_of(LinalgOp product, mlir::AffineMap map) const {
  const mlir::AffineMap whole = product.getIndexingMapsArray()[product == scores ? 2 : weights];
  llvm::SmallVector<unsigned> dimensions;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    unsigned dimension = 0;
    const auto position = [&](unsigned d) { return whole.getDimPosition(product == scores ? order[d] : d); };
    while (dimension < rank && position(dimension) != map.getDimPosition(i)) ++dimension;
    dimensions.push_back(dimension);
  }
  return dimensions;
}

llvm::SmallVector<LinalgOp> Attention::operations() const {
  llvm::SmallVector<LinalgOp> all;
  mlir::Operation* const each[] = {scores, masked, maximum, exponent, sum, share, mixed, last};
  for (mlir::Operation* op : each) {
    if (op) all.push_back(llvm::cast<LinalgOp>(op));
  }
  return all;
}

int64_t key_sharers(const Attention& attention) {
  constexpr int64_t kSharersMax = 8;        // A cluster of blocks has room for as many on every GPU that has clusters.
  constexpr int64_t kKeysOfSharerMin = 64;  // What takes longer than to join the sharers' sums.
  const bool is_known = !mlir::ShapedType::isDynamic(attention.batches) && !mlir::ShapedType::isDynamic(attention.keys);
  if (!is_known || attention.rows < 1 || attention.rows > kFewQueries) return 1;
  int64_t sharers = 1;
  while (sharers < kSharersMax && attention.batches * sharers * 2 <= kMultiprocessors &&
         attention.keys >= sharers * 2 * kKeysOfSharerMin) {
    sharers *= 2;
  }
  return sharers;
}

std::optional<Attention> find_attention(LinalgOp root, Producer producer) { return Finder(root, producer).run(); }

std::optional<Attention> find_attention(mlir::func::FuncOp kernel) {
  LinalgOp root;
  kernel.walk([&](LinalgOp op) { root = op; });
  if (!root) return std::nullopt;
  return find_attention(root, [](Value memory) {
    LinalgOp writer;
    for (mlir::OpOperand& use : memory.getUses()) {
      auto op = llvm::dyn_cast<LinalgOp>(use.getOwner());
      if (op && op.isDpsInit(&use) && !llvm::isa<linalg::FillOp>(op.getOperation())) writer = op;
    }
    return writer;
  });
}

}  // namespace baton::compiler_lite::codegen
