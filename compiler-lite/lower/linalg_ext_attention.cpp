// iree_linalg_ext.attention → two contractions with a softmax between them, in f32: scores are scaled, go through the region,
// and are masked; what the mask hides is the smallest number. As in IREE a region that computes sees scores in powers of two,
// and a query that sees no key gives zeros.
#include <numbers>

#include "compiler-lite/dialects/tm_tensor/dialect.hpp"
#include "compiler-lite/lower/linalg_ext.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

using Loops = SmallVector<unsigned>;
using Body = function_ref<Value(OpBuilder&, Location, ValueRange)>;

// Tensors whose dimensions are loops of the attention, and the sizes of those.
class Attention {
 public:
  Attention(IRRewriter& rewriter, const LinalgExtOperation& ext) : rewriter_(rewriter), ext_(ext) {}
  LogicalResult lower();

 private:
  struct Tensor {
    Value value;
    Loops loops;
  };
  bool read_maps();
  bool region_is_good();
  bool add(Value tensor, AffineMap map, Tensor& to);
  Loops reduced_of(const Loops& from, const Loops& without) const;
  AffineMap map_of(const Loops& loops, const Loops& all) const;
  Tensor make(const Loops& result, const Loops& reduced, ArrayRef<Tensor> inputs, Type element, TypedAttr first,
              Body body);
  Tensor scores();
  Tensor seen(const Loops& rows, const Loops& keys);
  Value score(OpBuilder& body, Location where, ValueRange elements);

  IRRewriter& rewriter_;
  const LinalgExtOperation& ext_;
  Tensor query_, key_, value_, mask_, out_;
  Value scale_;
  bool computes_ = false;  // The region is more than its argument.
  SmallVector<OpFoldResult> sizes_;
};

bool contains(const Loops& loops, unsigned loop) { return llvm::is_contained(loops, loop); }

bool Attention::add(Value tensor, AffineMap map, Tensor& to) {
  if (!map.isProjectedPermutation() || map.getNumResults() != cast<RankedTensorType>(tensor.getType()).getRank())
    return false;
  to.value = tensor;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    const unsigned loop = map.getDimPosition(i);
    to.loops.push_back(loop);
    if (!sizes_[loop]) sizes_[loop] = tensor::getMixedSize(rewriter_, ext_.op->getLoc(), tensor, i);
  }
  return true;
}

// Operands are query, key, value, scale, and a mask where there is one; then the result. What is meant without a scale
// differs from version to version of IREE.
bool Attention::read_maps() {
  const auto list = ext_.op->getAttrOfType<ArrayAttr>("indexing_maps");
  const size_t count = ext_.inputs.size();
  if (!list || count < 4 || count > 5 || list.size() != count + 1 || ext_.outputs.size() != 1) return false;
  SmallVector<AffineMap> maps;
  for (const Attribute each : list) {
    const auto map = dyn_cast<AffineMapAttr>(each);
    if (!map || map.getValue().getNumDims() != cast<AffineMapAttr>(list[0]).getValue().getNumDims()) return false;
    maps.push_back(map.getValue());
  }
  sizes_.resize(maps[0].getNumDims());
  scale_ = ext_.inputs[3];
  if (!isa<FloatType>(scale_.getType())) return false;
  return add(ext_.inputs[0], maps[0], query_) && add(ext_.inputs[1], maps[1], key_) &&
         add(ext_.inputs[2], maps[2], value_) && add(ext_.outputs[0], maps.back(), out_) &&
         (count < 5 || add(ext_.inputs[4], maps[4], mask_)) &&
         llvm::all_of(sizes_, [](OpFoldResult each) { return static_cast<bool>(each); });
}

bool Attention::region_is_good() {
  const auto is_float = [](const Tensor& each) {
    return isa<FloatType>(cast<RankedTensorType>(each.value.getType()).getElementType());
  };
  const Type f32 = rewriter_.getF32Type();
  const Type of_mask = mask_.value ? cast<RankedTensorType>(mask_.value.getType()).getElementType() : f32;
  if (!is_float(query_) || !is_float(key_) || !is_float(value_) || !is_float(out_)) return false;
  if (!isa<FloatType>(of_mask) && !isa<IntegerType>(of_mask)) return false;
  if (!ext_.has_region()) return true;
  Region& region = ext_.op->getRegion(0);
  if (!region.hasOneBlock() || region.front().empty() || region.getNumArguments() != 1) return false;
  auto yield = dyn_cast<tm_tensor::YieldOp>(region.front().back());
  if (yield && yield.getValues().size() == 1) computes_ = yield.getValues()[0] != region.getArgument(0);
  return yield && yield.getValues().size() == 1 && region.getArgument(0).getType() == f32 &&
         yield.getValues()[0].getType() == f32;
}

Loops Attention::reduced_of(const Loops& from, const Loops& without) const {
  return llvm::to_vector(llvm::make_filter_range(from, [&](unsigned loop) { return !contains(without, loop); }));
}

AffineMap Attention::map_of(const Loops& loops, const Loops& all) const {
  SmallVector<AffineExpr> places;
  for (const unsigned loop : loops) {
    places.push_back(rewriter_.getAffineDimExpr(static_cast<unsigned>(llvm::find(all, loop) - all.begin())));
  }
  return AffineMap::get(static_cast<unsigned>(all.size()), 0, places, rewriter_.getContext());
}

Attention::Tensor Attention::make(const Loops& result, const Loops& reduced, ArrayRef<Tensor> inputs, Type element,
                                  TypedAttr first, Body body) {
  const Location where = ext_.op->getLoc();
  Loops all(result);
  llvm::append_range(all, reduced);
  SmallVector<OpFoldResult> sizes;
  for (const unsigned loop : result) sizes.push_back(sizes_[loop]);
  Value out = rewriter_.create<tensor::EmptyOp>(where, sizes, element);
  if (first) {
    const Value number = rewriter_.create<arith::ConstantOp>(where, first);
    out = rewriter_.create<linalg::FillOp>(where, number, out).getResult(0);
  }
  SmallVector<AffineMap> maps;
  SmallVector<Value> values;
  for (const Tensor& each : inputs) {
    maps.push_back(map_of(each.loops, all));
    values.push_back(each.value);
  }
  maps.push_back(map_of(result, all));
  SmallVector<utils::IteratorType> kinds(result.size(), utils::IteratorType::parallel);
  kinds.append(reduced.size(), utils::IteratorType::reduction);
  auto made = rewriter_.create<linalg::GenericOp>(where, out.getType(), values, out, maps, kinds,
                                                  [&](OpBuilder& builder, Location at, ValueRange elements) {
                                                    builder.create<linalg::YieldOp>(at, body(builder, at, elements));
                                                  });
  return {made.getResult(0), result};
}

Value times(OpBuilder& body, Location where, Value number, double factor) {
  const Value constant = body.create<arith::ConstantOp>(where, body.getFloatAttr(number.getType(), factor));
  return body.create<arith::MulFOp>(where, number, constant);
}

// The elements are a sum, and what the mask has for it.
Value Attention::score(OpBuilder& body, Location where, ValueRange elements) {
  Value score = elements[0];
  if (computes_) score = times(body, where, score, std::numbers::log2e);
  const Value scale = convertScalarToDtype(body, where, scale_, score.getType(), /*isUnsignedCast=*/false);
  score = body.create<arith::MulFOp>(where, score, scale);
  if (ext_.has_region()) {
    IRMapping values;
    Block& block = ext_.op->getRegion(0).front();
    values.map(block.getArgument(0), score);
    for (Operation& each : block.without_terminator()) body.clone(each, values);
    score = values.lookupOrDefault(block.getTerminator()->getOperand(0));
  }
  if (!mask_.value) return score;
  const Value mask = elements[1];
  if (isa<FloatType>(mask.getType())) {
    Value added = convertScalarToDtype(body, where, mask, score.getType(), /*isUnsignedCast=*/false);
    if (computes_) added = times(body, where, added, std::numbers::log2e);
    return body.create<arith::AddFOp>(where, score, added);
  }
  const Value none = body.create<arith::ConstantOp>(where, body.getIntegerAttr(mask.getType(), 0));
  const Value is_seen = body.create<arith::CmpIOp>(where, arith::CmpIPredicate::ne, mask, none);
  const auto infinity = APFloat::getInf(cast<FloatType>(score.getType()).getFloatSemantics(), /*Negative=*/true);
  const Value hidden = body.create<arith::ConstantOp>(where, body.getFloatAttr(score.getType(), infinity));
  return body.create<arith::SelectOp>(where, is_seen, score, hidden);
}

Attention::Tensor Attention::scores() {
  const Type f32 = rewriter_.getF32Type();
  Loops loops, summed;
  for (unsigned loop = 0; loop < sizes_.size(); ++loop) {
    const bool is_first = contains(query_.loops, loop) || contains(key_.loops, loop);
    if (is_first) (contains(value_.loops, loop) || contains(out_.loops, loop) ? loops : summed).push_back(loop);
  }
  const Tensor sums =
      make(loops, summed, {query_, key_}, f32, rewriter_.getFloatAttr(f32, 0.0),
           [&](OpBuilder& body, Location where, ValueRange elements) -> Value {
             const Value a = convertScalarToDtype(body, where, elements[0], f32, false);
             const Value b = convertScalarToDtype(body, where, elements[1], f32, false);
             return body.create<arith::AddFOp>(where, elements[2], body.create<arith::MulFOp>(where, a, b));
           });
  SmallVector<Tensor> inputs{sums};
  if (mask_.value) inputs.push_back(mask_);
  return make(loops, {}, inputs, f32, {},
              [&](OpBuilder& body, Location where, ValueRange elements) { return score(body, where, elements); });
}

// Whether the mask lets a row see any key at all; rows that see none are zero.
Attention::Tensor Attention::seen(const Loops& rows, const Loops& keys) {
  const Loops mask_rows = reduced_of(mask_.loops, keys), mask_keys = reduced_of(mask_.loops, rows);
  return make(mask_rows, mask_keys, {mask_}, rewriter_.getI1Type(), rewriter_.getBoolAttr(false),
              [](OpBuilder& body, Location where, ValueRange elements) -> Value {
                const Value mask = elements[0];
                Value is_seen;
                if (auto kind = dyn_cast<FloatType>(mask.getType())) {
                  const auto infinity = APFloat::getInf(kind.getFloatSemantics(), /*Negative=*/true);
                  const Value hidden = body.create<arith::ConstantOp>(where, body.getFloatAttr(kind, infinity));
                  is_seen = body.create<arith::CmpFOp>(where, arith::CmpFPredicate::UNE, mask, hidden);
                } else {
                  const Value none = body.create<arith::ConstantOp>(where, body.getIntegerAttr(mask.getType(), 0));
                  is_seen = body.create<arith::CmpIOp>(where, arith::CmpIPredicate::ne, mask, none);
                }
                return body.create<arith::OrIOp>(where, elements[1], is_seen);
              });
}

LogicalResult Attention::lower() {
  if (!read_maps() || !region_is_good()) {
    return ext_.refuse("one of floats, with a scale, a map for each operand and a region from f32 to f32, is");
  }
  const Type f32 = rewriter_.getF32Type(), element = ext_.result_type().getElementType();
  const Tensor all_scores = scores();
  const Loops keys = reduced_of(all_scores.loops, out_.loops), rows = reduced_of(all_scores.loops, keys);
  const auto lie_within = [](const Loops& loops, const Loops& a, const Loops& b) {
    return llvm::all_of(loops, [&](unsigned loop) { return contains(a, loop) || contains(b, loop); });
  };
  const bool is_good = !keys.empty() && lie_within(mask_.loops, all_scores.loops, {}) &&
                       lie_within(value_.loops, keys, out_.loops) && lie_within(out_.loops, rows, value_.loops);
  if (!is_good) return ext_.refuse("one whose mask lies along queries and keys, and its values along keys, is");
  const auto smallest = APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true);
  const Tensor largest = make(rows, keys, {all_scores}, f32, rewriter_.getFloatAttr(f32, smallest),
                              [](OpBuilder& body, Location where, ValueRange elements) -> Value {
                                return body.create<arith::MaximumFOp>(where, elements[0], elements[1]);
                              });
  const Tensor powers = make(all_scores.loops, {}, {all_scores, largest}, f32, {},
                             [&](OpBuilder& body, Location where, ValueRange elements) -> Value {
                               const Value below = body.create<arith::SubFOp>(where, elements[0], elements[1]);
                               if (computes_) return body.create<math::Exp2Op>(where, below);
                               return body.create<math::ExpOp>(where, below);
                             });
  const Tensor total = make(rows, keys, {powers}, f32, rewriter_.getFloatAttr(f32, 0.0),
                            [](OpBuilder& body, Location where, ValueRange elements) -> Value {
                              return body.create<arith::AddFOp>(where, elements[0], elements[1]);
                            });
  const Tensor shares = make(all_scores.loops, {}, {powers, total}, f32, {},
                             [](OpBuilder& body, Location where, ValueRange elements) -> Value {
                               return body.create<arith::DivFOp>(where, elements[0], elements[1]);
                             });
  const Tensor sums =
      make(out_.loops, keys, {shares, value_}, f32, rewriter_.getFloatAttr(f32, 0.0),
           [&](OpBuilder& body, Location where, ValueRange elements) -> Value {
             const Value b = convertScalarToDtype(body, where, elements[1], f32, false);
             return body.create<arith::AddFOp>(where, elements[2], body.create<arith::MulFOp>(where, elements[0], b));
           });
  SmallVector<Tensor> ends{sums};
  if (mask_.value) ends.push_back(seen(rows, keys));
  const Tensor result =
      make(out_.loops, {}, ends, element, {}, [&](OpBuilder& body, Location where, ValueRange elements) -> Value {
        const Value number = convertScalarToDtype(body, where, elements[0], element, false);
        if (!mask_.value) return number;
        const Value zero = body.create<arith::ConstantOp>(where, body.getZeroAttr(element));
        return body.create<arith::SelectOp>(where, elements[1], number, zero);
      });
  Value made = result.value;
  if (made.getType() != ext_.result_type()) {
    made = rewriter_.create<tensor::CastOp>(ext_.op->getLoc(), ext_.result_type(), made);
  }
  rewriter_.replaceOp(ext_.op, made);
  return success();
}

}  // namespace

LogicalResult lower_attention(IRRewriter& rewriter, const LinalgExtOperation& attention) {
  return Attention(rewriter, attention).lower();
}

}  // namespace baton::compiler_lite::lower
