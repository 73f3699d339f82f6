// Floats of 8 bits are stored, not computed with: tensors of them hold bytes, and what computes converts in integers, in
// f32 (f64 where it comes from there), the nearest even of what rounds. One form for all targets; none has instructions
// for all of these types.
#include <cmath>

#include "compiler-lite/dialects/check/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "compiler-lite/lower/number_like.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

bool is_small_float(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() == 8;
}

Type with_element(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

// How the bits of a float are laid out, and what stands at the top of its range.
struct Layout {
  explicit Layout(FloatType type)
      : bits(type.getWidth()),
        mantissa(type.getFPMantissaWidth() - 1),
        exponent_min(llvm::APFloat::semanticsMinExponent(type.getFloatSemantics())),
        has_infinity(!type.isFloat8E4M3FN() && !is_without_zero(type)),
        has_negative_zero(!is_without_zero(type)) {}

  static bool is_without_zero(FloatType type) {
    return type.isFloat8E5M2FNUZ() || type.isFloat8E4M3FNUZ() || type.isFloat8E4M3B11FNUZ();
  }

  int64_t bias() const { return 1 - exponent_min; }
  int64_t magnitudes() const { return static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1); }
  int64_t sign() const { return magnitudes() + 1; }  // Of 8 bits.
  // Of the magnitude: the first code that is no finite number. Without infinities and with two zeros that is the one
  // NaN, with one zero every magnitude is a number.
  int64_t first_special() const {
    if (has_infinity) return magnitudes() >> mantissa << mantissa;
    return has_negative_zero ? magnitudes() : sign();
  }
  // What a number that is too large becomes.
  int64_t overflow() const { return first_special(); }
  int64_t nan() const { return has_infinity ? first_special() | int64_t{1} << (mantissa - 1) : first_special(); }

  int64_t bits, mantissa, exponent_min;
  bool has_infinity, has_negative_zero;
};

// Writes arithmetic on values of the shape that `like` has.
class Writer {
 public:
  Writer(OpBuilder& builder, Location where, Value like)
      : builder_(builder), where_(where), like_(like), shape_(like.getType()) {}

  Type type(Type element) const { return with_element(shape_, element); }
  template <typename Op>
  Value make(Value a, Value b) {
    return builder_.create<Op>(where_, a, b);
  }
  template <typename Op>
  Value convert(Value a, Type element) {
    return a.getType() == type(element) ? a : builder_.create<Op>(where_, type(element), a).getResult();
  }
  Value integer(Value like, int64_t number) {
    const auto element = cast<IntegerType>(getElementTypeOrSelf(like.getType()));
    return constant(builder_.getIntegerAttr(element, number));
  }
  Value floating(FloatType element, double number) { return constant(builder_.getFloatAttr(element, number)); }
  Value compare(arith::CmpIPredicate predicate, Value a, int64_t number) {
    return builder_.create<arith::CmpIOp>(where_, predicate, a, integer(a, number));
  }
  Value select(Value which, Value a, Value b) { return builder_.create<arith::SelectOp>(where_, which, a, b); }
  Value both(Value a, int64_t number) { return make<arith::AndIOp>(a, integer(a, number)); }
  Value add(Value a, int64_t number) { return make<arith::AddIOp>(a, integer(a, number)); }
  Value left(Value a, int64_t distance) { return make<arith::ShLIOp>(a, integer(a, distance)); }
  Value right(Value a, int64_t distance) { return make<arith::ShRUIOp>(a, integer(a, distance)); }

 private:
  Value constant(TypedAttr number) { return number_like(builder_, where_, like_, number); }

  OpBuilder& builder_;
  Location where_;
  Value like_;
  Type shape_;
};

double power_of_two(int64_t exponent) { return std::ldexp(1.0, static_cast<int>(exponent)); }

// The number that 8 bits say, in f32, which holds all of them.
Value widened(OpBuilder& builder, Location where, Value value) {
  const Layout small(cast<FloatType>(getElementTypeOrSelf(value.getType())));
  const FloatType f32 = builder.getF32Type();
  const Layout wide(f32);
  Writer w(builder, where, value);
  const Value bytes = w.convert<arith::BitcastOp>(value, builder.getI8Type());
  const Value code = w.convert<arith::ExtUIOp>(bytes, builder.getI32Type());
  const Value magnitude = w.both(code, small.magnitudes());
  const int64_t shift = wide.mantissa - small.mantissa;
  const Value normal = w.add(w.left(magnitude, shift), (wide.bias() - small.bias()) << wide.mantissa);
  const Value counted = w.convert<arith::UIToFPOp>(magnitude, f32);
  const Value step = w.floating(f32, power_of_two(small.exponent_min - small.mantissa));
  const Value tiny = w.convert<arith::BitcastOp>(w.make<arith::MulFOp>(counted, step), builder.getI32Type());
  const Value is_normal = w.compare(arith::CmpIPredicate::uge, magnitude, int64_t{1} << small.mantissa);
  Value bits = w.select(is_normal, normal, tiny);
  if (small.has_infinity) {
    const Value special = w.make<arith::OrIOp>(w.left(magnitude, shift), w.integer(code, wide.first_special()));
    bits = w.select(w.compare(arith::CmpIPredicate::uge, magnitude, small.first_special()), special, bits);
  } else {
    const Value is_nan = w.compare(arith::CmpIPredicate::eq, small.has_negative_zero ? magnitude : code, small.nan());
    bits = w.select(is_nan, w.integer(code, wide.nan()), bits);
  }
  const Value sign = w.left(w.both(code, small.sign()), wide.bits - small.bits);
  return w.convert<arith::BitcastOp>(w.make<arith::OrIOp>(bits, sign), f32);
}

// The 8 bits that say the nearest number, of two the even one. `value` is of f32 or f64.
Value narrowed(OpBuilder& builder, Location where, Value value, Type to) {
  const Layout small(cast<FloatType>(getElementTypeOrSelf(to)));
  const auto float_type = cast<FloatType>(getElementTypeOrSelf(value.getType()));
  const Layout wide(float_type);
  const Type integer_type = builder.getIntegerType(static_cast<unsigned>(wide.bits));
  Writer w(builder, where, value);
  const Value bits = w.convert<arith::BitcastOp>(value, integer_type);
  const Value magnitude = w.both(bits, wide.magnitudes());

  const int64_t shift = wide.mantissa - small.mantissa;
  const Value odd = w.both(w.right(magnitude, shift), 1);
  const Value up = w.make<arith::AddIOp>(w.add(magnitude, (int64_t{1} << (shift - 1)) - 1), odd);
  const Value normal = w.add(w.right(up, shift), -((wide.bias() - small.bias()) << small.mantissa));

  // Below the normal numbers codes count steps; adding 2^mantissa of the wide type rounds to a whole number of them.
  const double whole = power_of_two(wide.mantissa);
  const Value scale = w.floating(float_type, power_of_two(small.mantissa - small.exponent_min));
  const Value steps = w.make<arith::MulFOp>(w.convert<arith::BitcastOp>(magnitude, float_type), scale);
  const Value rounded = w.make<arith::AddFOp>(steps, w.floating(float_type, whole));
  const int64_t whole_bits = (wide.bias() + wide.mantissa) << wide.mantissa;
  const Value tiny = w.add(w.convert<arith::BitcastOp>(rounded, integer_type), -whole_bits);

  const int64_t normal_min = (small.exponent_min + wide.bias()) << wide.mantissa;
  Value code = w.select(w.compare(arith::CmpIPredicate::ult, magnitude, normal_min), tiny, normal);
  const Value is_large = w.compare(arith::CmpIPredicate::sge, code, small.first_special());
  code = w.select(is_large, w.integer(code, small.overflow()), code);
  const Value is_nan = w.compare(arith::CmpIPredicate::ugt, magnitude, wide.first_special());
  code = w.select(is_nan, w.integer(code, small.nan()), code);
  Value sign = w.both(w.right(bits, wide.bits - small.bits), small.sign());
  if (!small.has_negative_zero) {
    sign = w.select(w.compare(arith::CmpIPredicate::eq, code, 0), w.integer(code, 0), sign);
  }
  const Value bytes = w.convert<arith::TruncIOp>(w.make<arith::OrIOp>(code, sign), builder.getI8Type());
  return w.convert<arith::BitcastOp>(bytes, getElementTypeOrSelf(to));
}

// Moves bits, or chooses among them.
bool keeps_bits(Operation* op) { return isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op); }

bool computes(Operation* op) {
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !keeps_bits(op) &&
         (llvm::any_of(op->getOperandTypes(), is_small_float) || llvm::any_of(op->getResultTypes(), is_small_float));
}

// In f32, or in what the operation converts from.
Type wide_type(OpBuilder& builder, Type type) {
  return is_small_float(type) ? with_element(type, builder.getF32Type()) : type;
}

void compute_wide(Operation* op) {
  OpBuilder builder(op);
  const Location where = op->getLoc();
  OperationState state(where, op->getName());
  for (const Value operand : op->getOperands()) {
    state.operands.push_back(is_small_float(operand.getType()) ? widened(builder, where, operand) : operand);
  }
  for (const Type type : op->getResultTypes()) state.types.push_back(wide_type(builder, type));
  state.addAttributes(op->getAttrs());
  Value result;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    // Between f32 and f16, bf16, f64 there may be one conversion more, or none.
    result = state.operands[0];
    const Type wanted = op->getResult(0).getType();
    const auto width = [](Type type) { return getElementTypeOrSelf(type).getIntOrFloatBitWidth(); };
    const Type through = !is_small_float(wanted)        ? wanted
                         : width(result.getType()) > 32 ? result.getType()
                                                        : with_element(wanted, builder.getF32Type());
    if (width(through) > width(result.getType())) result = builder.create<arith::ExtFOp>(where, through, result);
    if (width(through) < width(result.getType())) result = builder.create<arith::TruncFOp>(where, through, result);
  } else {
    result = builder.create(state)->getResult(0);
  }
  const Type type = op->getResult(0).getType();
  if (is_small_float(type)) result = narrowed(builder, where, result, type);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

// A named operation says what it computes by its name; with a body of its own it may compute anything.
LogicalResult show_bodies(ModuleOp module) {
  SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(op)) return;
    const auto inside =
        op->walk([](Operation* each) { return computes(each) ? WalkResult::interrupt() : WalkResult::advance(); });
    if (inside.wasInterrupted()) named.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op))) return op->emitError("takes no floats of 8 bits.");
  }
  return success();
}

DenseElementsAttr widened(DenseElementsAttr numbers) {
  const Type f32 = Float32Type::get(numbers.getContext());
  return cast<DenseFPElementsAttr>(numbers).mapValues(f32, [](APFloat number) {
    bool is_inexact = false;
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &is_inexact);
    return number.bitcastToAPInt();
  });
}

// Compares small floats as wide ones: their bytes do not tell how near two numbers are.
void compare_wide(ModuleOp module) {
  module.walk([](Operation* op) {
    if (!isa<check::ExpectAlmostEqConstOp, check::ExpectAlmostEqOp>(op)) return;
    OpBuilder builder(op);
    for (OpOperand& operand : op->getOpOperands()) {
      const Type type = operand.get().getType();
      if (!is_small_float(type)) continue;
      operand.set(builder.create<arith::ExtFOp>(op->getLoc(), with_element(type, builder.getF32Type()), operand.get()));
    }
    auto with_constant = dyn_cast<check::ExpectAlmostEqConstOp>(op);
    const auto numbers =
        with_constant ? dyn_cast<DenseFPElementsAttr>(with_constant.getValue()) : DenseFPElementsAttr();
    if (numbers && is_small_float(numbers.getType())) with_constant.setValueAttr(widened(numbers));
  });
}

void store_as_bytes(ModuleOp module) {
  const Type i8 = IntegerType::get(module.getContext(), 8);
  AttrTypeReplacer replacer;
  replacer.addReplacement([=](FloatType type) -> std::optional<Type> {
    return is_small_float(type) ? std::optional<Type>(i8) : std::nullopt;
  });
  replacer.addReplacement([=](FloatAttr number) -> std::optional<Attribute> {
    if (!is_small_float(number.getType())) return std::nullopt;
    return IntegerAttr::get(i8, number.getValue().bitcastToAPInt());
  });
  replacer.addReplacement([=](DenseElementsAttr numbers) -> std::optional<Attribute> {
    if (!is_small_float(numbers.getType())) return std::nullopt;
    return DenseElementsAttr::getFromRawBuffer(numbers.getType().clone(i8), numbers.getRawData());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

void fold_bitcasts(ModuleOp module) {
  SmallVector<arith::BitcastOp> same;
  module.walk([&](arith::BitcastOp op) {
    if (op.getIn().getType() == op.getType()) same.push_back(op);
  });
  for (arith::BitcastOp op : same) {
    op.replaceAllUsesWith(op.getIn());
    op.erase();
  }
}

}  // namespace

LogicalResult small_floats_to_bytes(ModuleOp module) {
  bool any = false;
  module.walk([&](Operation* op) {
    any |= llvm::any_of(op->getResultTypes(), is_small_float) || llvm::any_of(op->getOperandTypes(), is_small_float);
  });
  if (!any) return success();
  if (failed(show_bodies(module))) return failure();
  compare_wide(module);
  SmallVector<Operation*> all;
  module.walk([&](Operation* op) {
    if (computes(op)) all.push_back(op);
  });
  for (Operation* op : all) compute_wide(op);
  store_as_bytes(module);
  fold_bitcasts(module);
  return success();
}

}  // namespace baton::compiler_lite::lower
