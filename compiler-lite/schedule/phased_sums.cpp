#include "compiler-lite/schedule/phased_sums.hpp"

#include "compiler-lite/codegen/product.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::AffineMap;
using mlir::OpFoldResult;
using mlir::PatternRewriter;
using mlir::Value;

// More sums than this are more dispatches than it saves work.
constexpr int64_t kMostPhases = 16;

// A dimension of the operand along which elements stand apart: the loop of the result and the one of the taps.
struct Spread {
  unsigned dimension, place, tap;
  int64_t distance, first, elements;  // How far apart, where the first one is, and how many.
  int64_t places, taps;
};

// One of the sums along such a dimension: see the header.
struct Phase {
  int64_t place, tap, places, taps, shift;

  static Phase of(const Spread& spread, int64_t place) {
    const int64_t s = spread.distance;
    const int64_t tap = ((spread.first - place) % s + s) % s;
    const auto count = [&](int64_t all, int64_t first) { return all <= first ? 0 : (all - first + s - 1) / s; };
    return {place, tap, count(spread.places, place), count(spread.taps, tap), (place + tap - spread.first) / s};
  }
  bool meets_elements_of(const Spread& spread) const {
    return places > 0 && taps > 0 && first_read() <= last_read(spread);
  }
  // Of the elements.
  int64_t first_read() const { return std::max<int64_t>(shift, 0); }
  int64_t last_read(const Spread& spread) const { return std::min(places - 1 + taps - 1 + shift, spread.elements - 1); }
  // Zeros that are read before the first element, and behind the last one; less than none where elements are not read.
  int64_t low() const { return -shift; }
  int64_t high(const Spread& spread) const { return places - 1 + taps - 1 + shift - (spread.elements - 1); }
};

// The operands of a sum whose loops are cut.
class PhasedSum {
 public:
  static std::optional<PhasedSum> find(linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
        !codegen::sums_products(op)) {
      return std::nullopt;
    }
    // An operand may be a number.
    const auto is_known = [](mlir::Type type) {
      const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    if (!llvm::all_of(op->getOperandTypes(), is_known) || !is_zero_fill(op.getDpsInits()[0])) return std::nullopt;
    for (unsigned i = 0; i < 2; ++i) {
      PhasedSum sum(op, i);
      if (sum.find_spreads()) return sum;
    }
    return std::nullopt;
  }

  Value rewrite(PatternRewriter& rewriter) {
    Value result = op_.getDpsInits()[0];
    for (int64_t number = 0; number < phase_count(); ++number) {
      SmallVector<Phase> phases;
      int64_t rest = number;
      for (const Spread& spread : spreads_) {
        phases.push_back(Phase::of(spread, rest % spread.distance));
        rest /= spread.distance;
      }
      const bool meets = llvm::all_of(llvm::zip_equal(spreads_, phases), [](const auto& each) {
        return std::get<1>(each).meets_elements_of(std::get<0>(each));
      });
      if (meets) result = insert(rewriter, sum_of(rewriter, phases), result, phases);
    }
    return result;
  }

 private:
  PhasedSum(linalg::LinalgOp op, unsigned spread_operand)
      : op_(op), spread_operand_(spread_operand), maps_(op.getIndexingMapsArray()), sizes_(op.getStaticLoopRanges()) {}

  static bool is_zero_fill(Value value) {
    auto fill = value.getDefiningOp<linalg::FillOp>();
    return fill && (mlir::matchPattern(fill.value(), mlir::m_AnyZeroFloat()) ||
                    mlir::matchPattern(fill.value(), mlir::m_Zero()));
  }

  int64_t phase_count() const {
    int64_t count = 1;
    for (const Spread& spread : spreads_) count *= spread.distance;
    return count;
  }

  bool find_spreads() {
    insert_ = op_.getDpsInputs()[spread_operand_].getDefiningOp<tensor::InsertSliceOp>();
    if (!insert_ || insert_.getSourceType().getRank() != insert_.getDestType().getRank()) return false;
    if (!insert_.getSourceType().hasStaticShape() || !is_zero_fill(insert_.getDest())) return false;
    const auto is_open = [](llvm::ArrayRef<int64_t> numbers) {
      return llvm::any_of(numbers, mlir::ShapedType::isDynamic);
    };
    if (is_open(insert_.getStaticOffsets()) || is_open(insert_.getStaticStrides())) return false;
    for (unsigned d = 0; d < insert_.getSourceType().getRank(); ++d) {
      const bool is_whole = insert_.getStaticStrides()[d] == 1 &&
                            insert_.getSourceType().getDimSize(d) == insert_.getDestType().getDimSize(d);
      if (!is_whole && !add_spread(d)) return false;
    }
    return phase_count() > 1 && phase_count() <= kMostPhases;
  }

  // Also where elements stand beside each other between borders: the borders of all dimensions go at once.
  bool add_spread(unsigned d) {
    const auto sum = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(maps_[spread_operand_].getResult(d));
    if (!sum || sum.getKind() != mlir::AffineExprKind::Add) return false;
    auto place = llvm::dyn_cast<mlir::AffineDimExpr>(sum.getLHS()),
         tap = llvm::dyn_cast<mlir::AffineDimExpr>(sum.getRHS());
    if (!place || !tap) return false;
    const auto kinds = op_.getIteratorTypesArray();
    if (kinds[place.getPosition()] != mlir::utils::IteratorType::parallel) std::swap(place, tap);
    if (kinds[place.getPosition()] != mlir::utils::IteratorType::parallel ||
        kinds[tap.getPosition()] != mlir::utils::IteratorType::reduction) {
      return false;
    }
    if (!stands_alone(2, place.getPosition()) || !stands_alone(1 - spread_operand_, tap.getPosition())) return false;
    if (!is_used_here_alone(place.getPosition(), 2, d) ||
        !is_used_here_alone(tap.getPosition(), 1 - spread_operand_, d))
      return false;
    spreads_.push_back({d, place.getPosition(), tap.getPosition(), insert_.getStaticStrides()[d],
                        insert_.getStaticOffsets()[d], insert_.getSourceType().getDimSize(d),
                        sizes_[place.getPosition()], sizes_[tap.getPosition()]});
    return true;
  }

  bool stands_alone(unsigned operand, unsigned loop) {
    return maps_[operand].getResultPosition(mlir::getAffineDimExpr(loop, op_.getContext())).has_value();
  }
  // The loop moves dimension `d` of the operand, one of `other`, where it stands alone, and nothing else.
  bool is_used_here_alone(unsigned loop, unsigned other, unsigned d) {
    for (unsigned operand = 0; operand < maps_.size(); ++operand) {
      const auto uses = llvm::count_if(maps_[operand].getResults(),
                                       [&](mlir::AffineExpr each) { return each.isFunctionOfDim(loop); });
      const bool may = operand == other || operand == spread_operand_;
      if (uses != (may ? 1 : 0)) return false;
    }
    return maps_[spread_operand_].getResult(d).isFunctionOfDim(loop);
  }

  Value sum_of(PatternRewriter& rewriter, llvm::ArrayRef<Phase> phases) {
    const mlir::Location where = op_.getLoc();
    SmallVector<Value> inputs(op_.getDpsInputs());
    inputs[spread_operand_] = elements_of(rewriter, phases);
    inputs[1 - spread_operand_] = taps_of(rewriter, phases);
    SmallVector<int64_t> shape(llvm::cast<mlir::RankedTensorType>(op_.getDpsInits()[0].getType()).getShape());
    for (const auto& [spread, phase] : llvm::zip_equal(spreads_, phases))
      shape[dimension(2, spread.place)] = phase.places;
    const mlir::Type element = mlir::getElementTypeOrSelf(op_.getDpsInits()[0].getType());
    const Value empty = rewriter.create<tensor::EmptyOp>(where, shape, element);
    auto fill = op_.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    const Value none = rewriter.create<linalg::FillOp>(where, fill.value(), empty).result();
    auto sums = rewriter.create<linalg::GenericOp>(where, mlir::TypeRange{none.getType()}, inputs,
                                                   mlir::ValueRange{none}, maps_, op_.getIteratorTypesArray());
    rewriter.cloneRegionBefore(op_->getRegion(0), sums.getRegion(), sums.getRegion().end());
    return sums.getResult(0);
  }

  unsigned dimension(unsigned operand, unsigned loop) {
    return *maps_[operand].getResultPosition(mlir::getAffineDimExpr(loop, op_.getContext()));
  }

  // What the windows of a phase read: elements, and zeros around them.
  Value elements_of(PatternRewriter& rewriter, llvm::ArrayRef<Phase> phases) {
    const auto type = insert_.getSourceType();
    SmallVector<OpFoldResult> low(static_cast<size_t>(type.getRank()), rewriter.getIndexAttr(0)), high = low;
    SmallVector<int64_t> begins(static_cast<size_t>(type.getRank()), 0), sizes(type.getShape());
    bool is_padded = false;
    for (const auto& [spread, phase] : llvm::zip_equal(spreads_, phases)) {
      const int64_t before = phase.low(), behind = phase.high(spread);
      low[spread.dimension] = rewriter.getIndexAttr(std::max<int64_t>(before, 0));
      high[spread.dimension] = rewriter.getIndexAttr(std::max<int64_t>(behind, 0));
      is_padded |= before > 0 || behind > 0;
      begins[spread.dimension] = phase.first_read();
      sizes[spread.dimension] = phase.last_read(spread) - phase.first_read() + 1;
    }
    const Value read = slice(rewriter, insert_.getSource(), begins, sizes,
                             SmallVector<int64_t>(static_cast<size_t>(type.getRank()), 1));
    if (!is_padded) return read;
    auto fill = insert_.getDest().getDefiningOp<linalg::FillOp>();
    return rewriter.create<tensor::PadOp>(op_.getLoc(), mlir::Type(), read, low, high, fill.value());
  }

  Value taps_of(PatternRewriter& rewriter, llvm::ArrayRef<Phase> phases) {
    const Value taps = op_.getDpsInputs()[1 - spread_operand_];
    const auto type = llvm::cast<mlir::RankedTensorType>(taps.getType());
    SmallVector<int64_t> begins(static_cast<size_t>(type.getRank()), 0), sizes(type.getShape()),
        steps(static_cast<size_t>(type.getRank()), 1);
    for (const auto& [spread, phase] : llvm::zip_equal(spreads_, phases)) {
      const unsigned d = dimension(1 - spread_operand_, spread.tap);
      begins[d] = phase.tap;
      sizes[d] = phase.taps;
      steps[d] = spread.distance;
    }
    return slice(rewriter, taps, begins, sizes, steps);
  }

  Value slice(PatternRewriter& rewriter, Value value, llvm::ArrayRef<int64_t> begins, llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<int64_t> steps) {
    if (llvm::cast<mlir::RankedTensorType>(value.getType()).getShape() == sizes) return value;
    return rewriter.create<tensor::ExtractSliceOp>(op_.getLoc(), value, numbers(rewriter, begins),
                                                   numbers(rewriter, sizes), numbers(rewriter, steps));
  }

  Value insert(PatternRewriter& rewriter, Value sum, Value result, llvm::ArrayRef<Phase> phases) {
    const auto type = llvm::cast<mlir::RankedTensorType>(sum.getType());
    SmallVector<int64_t> begins(static_cast<size_t>(type.getRank()), 0), steps(static_cast<size_t>(type.getRank()), 1);
    for (const auto& [spread, phase] : llvm::zip_equal(spreads_, phases)) {
      begins[dimension(2, spread.place)] = phase.place;
      steps[dimension(2, spread.place)] = spread.distance;
    }
    return rewriter.create<tensor::InsertSliceOp>(op_.getLoc(), sum, result, numbers(rewriter, begins),
                                                  numbers(rewriter, type.getShape()), numbers(rewriter, steps));
  }

  static SmallVector<OpFoldResult> numbers(PatternRewriter& rewriter, llvm::ArrayRef<int64_t> values) {
    return mlir::getAsIndexOpFoldResult(rewriter.getContext(), values);
  }

  linalg::LinalgOp op_;
  unsigned spread_operand_;
  SmallVector<AffineMap> maps_;
  SmallVector<int64_t> sizes_;
  tensor::InsertSliceOp insert_;
  SmallVector<Spread> spreads_;
};

struct SumInPhases final : mlir::OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  mlir::LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter& rewriter) const override {
    std::optional<PhasedSum> sum = PhasedSum::find(op);
    if (!sum) return mlir::failure();
    rewriter.replaceOp(op, sum->rewrite(rewriter));
    return mlir::success();
  }
};

}  // namespace

void populate_phased_sum_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<SumInPhases>(patterns.getContext());
}

}  // namespace baton::compiler_lite::schedule
