#include "compiler-lite/schedule/attention_layout.hpp"

#include <array>
#include <bit>

#include "compiler-lite/codegen/attention_mask.hpp"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using codegen::Attention;
using codegen::without_casts;
using codegen::yielded;
using llvm::SmallVector;
using mlir::Value;

// What stands in place of a score that doesn't count must be this little: beside it libraries put the least number there is.
constexpr double kNothing = -30000;

enum Tensor : size_t { kQ, kK, kV, kResult, kTensors };

// A place that is a row's, or a key's, plus a number.
struct Place {
  uint64_t dimension;
  int64_t more;
};
std::optional<Place> place_of(Value value) {
  if (auto index = value.getDefiningOp<linalg::IndexOp>()) return Place{index.getDim(), 0};
  mlir::Operation* op = value.getDefiningOp();
  if (llvm::isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    return value.getType().isIndex() || value.getType().getIntOrFloatBitWidth() >= 32 ? place_of(op->getOperand(0))
                                                                                      : std::nullopt;
  }
  if (!llvm::isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) return std::nullopt;
  const int64_t sign = llvm::isa<arith::AddIOp>(op) ? 1 : -1;
  llvm::APInt number;
  if (mlir::matchPattern(op->getOperand(1), mlir::m_ConstantInt(&number))) {
    const std::optional<Place> place = place_of(op->getOperand(0));
    return place ? std::optional(Place{place->dimension, place->more + sign * number.getSExtValue()}) : std::nullopt;
  }
  if (sign < 0 || !mlir::matchPattern(op->getOperand(0), mlir::m_ConstantInt(&number))) return std::nullopt;
  const std::optional<Place> place = place_of(op->getOperand(1));
  return place ? std::optional(Place{place->dimension, place->more + number.getSExtValue()}) : std::nullopt;
}

// How much further than its own place the last key is that counts for a row, where a comparison says that, or its opposite.
std::optional<int64_t> reach_of(const Attention& attention, Value condition, bool counts_where_true) {
  auto comparison = condition.getDefiningOp<arith::CmpIOp>();
  const auto a = comparison ? place_of(comparison.getLhs()) : std::nullopt;
  const auto b = comparison ? place_of(comparison.getRhs()) : std::nullopt;
  if (!a || !b || attention.row == Attention::kNoRow) return std::nullopt;
  using P = arith::CmpIPredicate;
  P how = counts_where_true ? comparison.getPredicate() : arith::invertPredicate(comparison.getPredicate());
  // row + a.more HOW key + b.more
  const bool row_first = a->dimension == attention.row && b->dimension == attention.key;
  if (!row_first && (a->dimension != attention.key || b->dimension != attention.row)) return std::nullopt;
  const int64_t more = row_first ? a->more - b->more : b->more - a->more;
  const bool is_at_least = row_first ? how == P::sge || how == P::uge : how == P::sle || how == P::ule;
  const bool is_above = row_first ? how == P::sgt || how == P::ugt : how == P::slt || how == P::ult;
  if (!is_at_least && !is_above) return std::nullopt;
  return is_at_least ? more : more - 1;
}

// One dimension of the batch: its size, and its strides in each tensor.
struct Dimension {
  int64_t size = 1;
  std::array<int64_t, kTensors> strides = {};

  bool continues(const Dimension& outer) const {
    for (size_t i = 0; i < kTensors; ++i) {
      if (outer.strides[i] != strides[i] * size) return false;
    }
    return true;
  }
};

class Reader {
 public:
  explicit Reader(const Attention& attention) : attention_(attention) {}

  AttentionOrReason read() {
    for (const auto step : {&Reader::read_scale, &Reader::read_last, &Reader::read_tensors, &Reader::read_batches}) {
      if (!(this->*step)()) return {std::nullopt, reason_};
    }
    write();
    return {std::move(made_)};
  }

 private:
  bool refuse(const char* reason) {
    reason_ = reason;
    return false;
  }

  // What stands between the first product and the softmax.
  bool read_scale() {
    linalg::GenericOp masked = attention_.masked;
    if (!masked) return true;
    Value score = yielded(masked);
    if (score.getDefiningOp<arith::SelectOp>()) {
      const auto mask = codegen::AttentionMask::find(attention_);
      if (!mask) return refuse("its mask puts no constant in place of scores");
      auto choice = llvm::cast<arith::SelectOp>(mask->choice());
      const std::optional<int64_t> reach =
          reach_of(attention_, choice.getCondition(), mask->counted() == choice.getTrueValue());
      if (!reach || *reach != 0) return refuse("its mask is another one than that of keys behind a row's place");
      if (mask->nothing() > kNothing) return refuse("scores that don't count still weigh something");
      is_causal_ = true;
      score = without_casts(mask->counted());
    }
    mlir::Operation* op = score.getDefiningOp();
    if (llvm::isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op)) {
      const bool divides = llvm::isa<arith::DivFOp>(op);
      for (const unsigned side : {1u, 0u}) {
        mlir::FloatAttr factor;
        if (!mlir::matchPattern(without_casts(op->getOperand(side)), mlir::m_Constant(&factor))) continue;
        if (divides && side == 0) break;
        scale_ = static_cast<float>(divides ? 1 / factor.getValueAsDouble() : factor.getValueAsDouble());
        score = without_casts(op->getOperand(1 - side));
        break;
      }
    }
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(score);
    const bool is_score = argument && argument.getOwner() == masked.getBody() &&
                          masked.getMatchingOpOperand(argument)->get() == attention_.scores->getResult(0);
    if (!is_score) return refuse("more than a factor and a mask stands between its scores and the softmax");
    return masked.getNumDpsInputs() == 1 || refuse("its mask reads a tensor");
  }

  // What follows the second product may only write another type, or another order.
  bool read_last() {
    if (!attention_.last) return true;
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(yielded(attention_.last));
    linalg::GenericOp last = attention_.last;
    const bool is_mixed = argument && argument.getOwner() == last.getBody() &&
                          last.getMatchingOpOperand(argument)->get() == attention_.mixed->getResult(0);
    return is_mixed || refuse("something is computed of its result");
  }

  // The scores' dimension that each dimension of a tensor is; `rank` for depth and width.
  SmallVector<unsigned> dimensions_of(Tensor tensor) const {
    linalg::LinalgOp scores = attention_.scores, mixed = attention_.mixed;
    const SmallVector<mlir::AffineMap> of_scores = scores.getIndexingMapsArray(),
                                       of_mixed = mixed.getIndexingMapsArray();
    switch (tensor) {
      case kQ: return attention_.dimensions_of(scores, of_scores[attention_.q]);
      case kK: return attention_.dimensions_of(scores, of_scores[attention_.k]);
      case kV: return attention_.dimensions_of(mixed, of_mixed[attention_.v]);
      default: break;
    }
    SmallVector<unsigned> dimensions = attention_.dimensions_of(mixed, of_mixed[2]);
    if (!attention_.last) return dimensions;
    linalg::GenericOp last = attention_.last;
    SmallVector<unsigned> turned(dimensions.size());
    for (mlir::OpOperand* operand : last.getDpsInputOperands()) {
      if (operand->get() != mixed->getResult(0)) continue;
      const mlir::AffineMap map = last.getMatchingIndexingMap(operand);
      for (unsigned i = 0; i < dimensions.size(); ++i) turned[map.getDimPosition(i)] = dimensions[i];
    }
    return turned;
  }
  mlir::RankedTensorType type_of(Tensor tensor) const {
    linalg::LinalgOp scores = attention_.scores, mixed = attention_.mixed;
    const Value values[] = {scores->getOperand(attention_.q), scores->getOperand(attention_.k),
                            mixed->getOperand(attention_.v), attention_.root()->getResult(0)};
    return llvm::cast<mlir::RankedTensorType>(values[tensor].getType());
  }

  bool read_tensors() {
    if (attention_.row == Attention::kNoRow) return refuse("it has a single row");
    all_.resize(attention_.rank + 1);
    for (const Tensor tensor : {kQ, kK, kV, kResult}) {
      const mlir::RankedTensorType type = type_of(tensor);
      if (!type.hasStaticShape()) return refuse("it has a size that is known at run time alone");
      if (type.getNumElements() == 0) return refuse("it is empty");
      if (type.getElementType() != type_of(kQ).getElementType())
        return refuse("its result has elements of another type");
      const SmallVector<unsigned> dimensions = dimensions_of(tensor);
      int64_t stride = 1;
      for (size_t i = dimensions.size(); i-- > 0;) {
        Dimension& dimension = all_[dimensions[i]];
        // Depth and width may differ.
        if (dimensions[i] == attention_.rank && i + 1 != dimensions.size()) {
          return refuse("elements of a row don't lie beside each other");
        }
        dimension.size = type.getDimSize(static_cast<unsigned>(i));
        dimension.strides[tensor] = stride;
        stride *= type.getDimSize(static_cast<unsigned>(i));
      }
    }
    return true;
  }

  // All batches as one dimension of batches and one of heads.
  bool read_batches() {
    std::vector<Dimension> batches;
    for (unsigned i = 0; i < attention_.rank; ++i) {
      if (i != attention_.row && i != attention_.key && all_[i].size != 1) batches.push_back(all_[i]);
    }
    llvm::sort(batches, [](const Dimension& a, const Dimension& b) { return a.strides[kResult] > b.strides[kResult]; });
    std::vector<Dimension> joined;
    for (const Dimension& each : batches) {
      if (!joined.empty() && each.continues(joined.back())) {
        const int64_t size = joined.back().size * each.size;
        joined.back() = each;
        joined.back().size = size;
      } else {
        joined.push_back(each);
      }
    }
    const auto shares_keys = [](const Dimension& each) { return each.strides[kK] == 0 || each.strides[kV] == 0; };
    // Rows of several heads that share keys are further heads.
    if (joined.size() == 3 && shares_keys(joined[2]) && !shares_keys(joined[1]) && joined[2].strides[kK] == 0 &&
        joined[2].strides[kV] == 0) {
      Dimension heads = joined[1], sharers = joined[2];
      const bool is_even = heads.strides[kQ] == sharers.strides[kQ] * sharers.size &&
                           heads.strides[kResult] == sharers.strides[kResult] * sharers.size;
      if (!is_even) return refuse("heads that share keys lie apart");
      key_heads_ = heads.size;
      heads.size *= sharers.size;
      for (const Tensor tensor : {kQ, kResult}) heads.strides[tensor] = sharers.strides[tensor];
      joined = {joined[0], heads};
    } else if (!joined.empty() && shares_keys(joined.back())) {
      if (joined.back().strides[kK] != joined.back().strides[kV]) return refuse("heads share keys, or values, alone");
      key_heads_ = 1;
    } else {
      key_heads_ = joined.empty() ? 1 : joined.back().size;
    }
    if (joined.size() > 2) return refuse("its batches lie in no two dimensions");
    if (!joined.empty()) heads_ = joined.back();
    if (joined.size() == 2) batches_ = joined.front();
    for (const Dimension& each : joined) {
      if (each.strides[kQ] == 0 || each.strides[kResult] == 0) return refuse("rows of different batches are the same");
    }
    return !shares_keys(batches_) || batches_.size == 1 || refuse("batches share keys");
  }

  void write() {
    const Dimension &row = all_[attention_.row], &key = all_[attention_.key];
    const int64_t keys = key.size;
    made_.rows = row.size;
    made_.depth = type_of(kQ).getShape().back();
    made_.width = type_of(kV).getShape().back();
    made_.work = batches_.size * heads_.size * row.size * keys * (made_.depth + made_.width);
    made_.numbers = {batches_.size,
                     heads_.size,
                     key_heads_,
                     row.size,
                     keys,
                     made_.depth,
                     made_.width,
                     is_causal_ ? 1 : 0,
                     std::bit_cast<int32_t>(scale_)};
    for (const Tensor tensor : {kQ, kK, kV, kResult}) {
      const Dimension& along = tensor == kQ || tensor == kResult ? row : key;
      made_.numbers.insert(made_.numbers.end(),
                           {batches_.strides[tensor], heads_.strides[tensor], along.strides[tensor]});
    }
    llvm::raw_string_ostream(made_.elements) << type_of(kQ).getElementType();
    llvm::raw_string_ostream(made_.sizes)
        << batches_.size << 'x' << heads_.size << " heads, " << row.size << " rows of " << keys
        << (is_causal_ ? " keys up to the row's own" : " keys");
    const Value given[] = {attention_.scores->getOperand(attention_.q), attention_.scores->getOperand(attention_.k),
                           attention_.mixed->getOperand(attention_.v)};
    for (size_t i = 0; i < 3; ++i) find_path(attention_.root(), given[i], made_.paths[i]);
  }

  // Whether a way to the value was found, and where it goes.
  bool find_path(linalg::LinalgOp from, Value to, AttentionLayout::Path& path) const {
    for (mlir::OpOperand* operand : from.getDpsInputOperands()) {
      path.push_back(operand->getOperandNumber());
      if (operand->get() == to) return true;
      const auto inside = operand->get().getDefiningOp<linalg::LinalgOp>();
      if (inside && llvm::is_contained(attention_.operations(), inside) && find_path(inside, to, path)) return true;
      path.pop_back();
    }
    return false;
  }

  Attention attention_;
  const char* reason_ = "";
  AttentionLayout made_;
  bool is_causal_ = false;
  float scale_ = 1;
  std::vector<Dimension> all_;  // Of the scores, and the one that they lack.
  Dimension batches_, heads_;
  int64_t key_heads_ = 1;
};

}  // namespace

AttentionOrReason attention_layout(const Attention& attention) { return Reader(attention).read(); }

}  // namespace baton::compiler_lite::schedule
