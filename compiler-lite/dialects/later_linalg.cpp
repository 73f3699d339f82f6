#include "compiler-lite/dialects/later_linalg.hpp"

#include "llvm/ADT/StringSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

namespace baton::compiler_lite {

using namespace mlir;  // NOLINT: this file reads MLIR.

namespace {

// An operation whose text is read as another one; none of its own is made.
template <typename Concrete>
class ReadAsAnother
    : public Op<Concrete, OpTrait::VariadicOperands, OpTrait::VariadicResults, OpTrait::VariadicRegions> {
 public:
  using Op<Concrete, OpTrait::VariadicOperands, OpTrait::VariadicResults, OpTrait::VariadicRegions>::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

// `ins(%a, %b : types) outs(%c : types)`.
ParseResult parse_tensors(OpAsmParser& parser, StringRef keyword, SmallVector<Value>& values) {
  Operands operands;
  SmallVector<Type> types;
  if (parser.parseKeyword(keyword) || parser.parseLParen()) return failure();
  const SMLoc loc = parser.getCurrentLocation();
  return failure(parser.parseOperandList(operands) || parser.parseColonTypeList(types) || parser.parseRParen() ||
                 parser.resolveOperands(operands, types, loc, values));
}

// What stands behind the name.
struct Loops {
  ArrayAttr maps;
  bool is_unsigned = false;
  SmallVector<Value> inputs, outputs;
};

// One map for each operand, all of them with as many dimensions.
ParseResult check_maps(OpAsmParser& parser, SMLoc loc, const Loops& loops) {
  const size_t count = loops.inputs.size() + loops.outputs.size();
  const auto maps = loops.maps.getValue();
  const bool are_maps =
      llvm::all_of(maps, [](Attribute each) { return isa<AffineMapAttr>(each); }) && maps.size() == count;
  if (!are_maps || count == 0) return parser.emitError(loc, "expected a map for each of its ") << count << " operands";
  const auto dimensions = [](Attribute map) { return cast<AffineMapAttr>(map).getValue().getNumDims(); };
  const bool agree = llvm::all_of(maps, [&](Attribute map) { return dimensions(map) == dimensions(maps.front()); });
  return agree ? success() : parser.emitError(loc, "expected maps from the same loops");
}

ParseResult parse_loops(OpAsmParser& parser, OperationState& state, Loops& loops) {
  Attribute maps;
  const SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("indexing_maps")) && (parser.parseEqual() || parser.parseAttribute(maps))) {
    return failure();
  }
  NamedAttrList attributes;
  if (parser.parseOptionalAttrDict(attributes) || parse_tensors(parser, "ins", loops.inputs) ||
      parse_tensors(parser, "outs", loops.outputs) || parser.parseOptionalArrowTypeList(state.types)) {
    return failure();
  }
  const auto cast_kind = dyn_cast_or_null<linalg::TypeFnAttr>(attributes.erase("cast"));
  loops.is_unsigned = cast_kind && cast_kind.getValue() == linalg::TypeFn::cast_unsigned;
  state.attributes.append(attributes);
  loops.maps = dyn_cast_or_null<ArrayAttr>(maps);
  if (loops.maps) return check_maps(parser, loc, loops);
  if (maps) return parser.emitError(loc, "expected a list of maps");
  // Element by element, where nothing else is said.
  const auto type = loops.outputs.empty() ? ShapedType() : dyn_cast<ShapedType>(loops.outputs[0].getType());
  if (!type || !type.hasRank()) return parser.emitError(loc, "expected one result with a rank");
  const AffineMap map = AffineMap::getMultiDimIdentityMap(static_cast<unsigned>(type.getRank()), parser.getContext());
  loops.maps = parser.getBuilder().getAffineMapArrayAttr(
      SmallVector<AffineMap>(loops.inputs.size() + loops.outputs.size(), map));
  return success();
}

// A loop that the result's map names is parallel.
ArrayAttr iterators_of(Builder& builder, ArrayAttr maps) {
  const AffineMap result = cast<AffineMapAttr>(maps.getValue().back()).getValue();
  SmallVector<Attribute> iterators;
  for (unsigned d = 0; d < result.getNumDims(); ++d) {
    iterators.push_back(linalg::IteratorTypeAttr::get(builder.getContext(), result.isFunctionOfDim(d)
                                                                                ? utils::IteratorType::parallel
                                                                                : utils::IteratorType::reduction));
  }
  return builder.getArrayAttr(iterators);
}

using Body = function_ref<Value(OpBuilder&, Location, ValueRange)>;

// linalg.generic with what `body` gives for the elements of inputs and result; false where it gives nothing.
bool become_generic(Builder& names, OperationState& state, const Loops& loops, Body body) {
  state.name = OperationName(linalg::GenericOp::getOperationName(), names.getContext());
  state.addOperands(loops.inputs);
  state.addOperands(loops.outputs);
  state.addAttribute("operandSegmentSizes", names.getDenseI32ArrayAttr({static_cast<int32_t>(loops.inputs.size()),
                                                                        static_cast<int32_t>(loops.outputs.size())}));
  state.addAttribute("indexing_maps", loops.maps);
  state.addAttribute("iterator_types", iterators_of(names, loops.maps));
  Region* region = state.addRegion();
  Block& block = region->emplaceBlock();
  for (const Value each : state.operands) block.addArgument(getElementTypeOrSelf(each.getType()), state.location);
  OpBuilder builder(names.getContext());  // The region has no operation yet that would know the context.
  builder.setInsertionPointToEnd(&block);
  const Value result = body(builder, state.location, block.getArguments());
  if (result) builder.create<linalg::YieldOp>(state.location, result);
  return static_cast<bool>(result);
}

Value add(OpBuilder& builder, Location where, Value a, Value b) {
  const Type type = a.getType();
  if (isa<ComplexType>(type)) return builder.create<complex::AddOp>(where, a, b);
  if (isa<FloatType>(type)) return builder.create<arith::AddFOp>(where, a, b);
  if (type.isInteger(1)) return builder.create<arith::OrIOp>(where, a, b);
  return builder.create<arith::AddIOp>(where, a, b);
}

Value multiply(OpBuilder& builder, Location where, Value a, Value b) {
  const Type type = a.getType();
  if (isa<ComplexType>(type)) return builder.create<complex::MulOp>(where, a, b);
  if (isa<FloatType>(type)) return builder.create<arith::MulFOp>(where, a, b);
  if (type.isInteger(1)) return builder.create<arith::AndIOp>(where, a, b);
  return builder.create<arith::MulIOp>(where, a, b);
}

Value subtract(OpBuilder& builder, Location where, Value a, Value b) {
  if (isa<ComplexType>(a.getType())) return builder.create<complex::SubOp>(where, a, b);
  if (isa<FloatType>(a.getType())) return builder.create<arith::SubFOp>(where, a, b);
  return builder.create<arith::SubIOp>(where, a, b);
}

Value divide(OpBuilder& builder, Location where, Value a, Value b, bool is_unsigned) {
  if (isa<ComplexType>(a.getType())) return builder.create<complex::DivOp>(where, a, b);
  if (isa<FloatType>(a.getType())) return builder.create<arith::DivFOp>(where, a, b);
  if (is_unsigned) return builder.create<arith::DivUIOp>(where, a, b);
  return builder.create<arith::DivSIOp>(where, a, b);
}

Value extreme(OpBuilder& builder, Location where, Value a, Value b, bool is_largest, bool is_unsigned) {
  if (isa<FloatType>(a.getType())) {
    if (is_largest) return builder.create<arith::MaximumFOp>(where, a, b);
    return builder.create<arith::MinimumFOp>(where, a, b);
  }
  if (!isa<IntegerType>(a.getType())) return {};
  if (is_largest && is_unsigned) return builder.create<arith::MaxUIOp>(where, a, b);
  if (is_largest) return builder.create<arith::MaxSIOp>(where, a, b);
  if (is_unsigned) return builder.create<arith::MinUIOp>(where, a, b);
  return builder.create<arith::MinSIOp>(where, a, b);
}

Value of_one_float(OpBuilder& builder, Location where, StringRef kind, Value x) {
  if (kind == "exp") return builder.create<math::ExpOp>(where, x);
  if (kind == "log") return builder.create<math::LogOp>(where, x);
  if (kind == "abs") return builder.create<math::AbsFOp>(where, x);
  if (kind == "ceil") return builder.create<math::CeilOp>(where, x);
  if (kind == "floor") return builder.create<math::FloorOp>(where, x);
  if (kind == "negf") return builder.create<arith::NegFOp>(where, x);
  if (kind == "round") return builder.create<math::RoundOp>(where, x);
  if (kind == "sqrt") return builder.create<math::SqrtOp>(where, x);
  if (kind == "rsqrt") return builder.create<math::RsqrtOp>(where, x);
  if (kind == "square") return builder.create<arith::MulFOp>(where, x, x);
  if (kind == "tanh") return builder.create<math::TanhOp>(where, x);
  if (kind == "erf") return builder.create<math::ErfOp>(where, x);
  if (kind != "reciprocal") return {};
  const Value one = builder.create<arith::ConstantOp>(where, builder.getFloatAttr(x.getType(), 1.0));
  return builder.create<arith::DivFOp>(where, one, x);
}

Value of_two(OpBuilder& builder, Location where, StringRef kind, Value a, Value b) {
  if (a.getType() != b.getType()) return {};
  if (kind == "add") return add(builder, where, a, b);
  if (kind == "sub") return subtract(builder, where, a, b);
  if (kind == "mul") return multiply(builder, where, a, b);
  if (kind == "div" || kind == "div_unsigned") return divide(builder, where, a, b, kind == "div_unsigned");
  if (kind == "powf" && isa<FloatType>(a.getType())) return builder.create<math::PowFOp>(where, a, b);
  const bool is_largest = kind.consume_front("max_");
  if (!is_largest && !kind.consume_front("min_")) return {};
  return extreme(builder, where, a, b, is_largest, kind == "unsigned");
}

// Nothing where the kind is none of these elements.
Value element_of(OpBuilder& builder, Location where, StringRef kind, ValueRange inputs) {
  if (inputs.size() == 1 && isa<FloatType>(inputs[0].getType())) return of_one_float(builder, where, kind, inputs[0]);
  if (inputs.size() == 3 && kind == "select" && inputs[0].getType().isInteger(1)) {
    return builder.create<arith::SelectOp>(where, inputs[0], inputs[1], inputs[2]);
  }
  return inputs.size() == 2 ? of_two(builder, where, kind, inputs[0], inputs[1]) : Value();
}

class ContractOp final : public ReadAsAnother<ContractOp> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ContractOp)
  using ReadAsAnother::ReadAsAnother;
  static StringRef getOperationName() { return "linalg.contract"; }
  static ParseResult parse(OpAsmParser& parser, OperationState& state) {
    Loops loops;
    const SMLoc loc = parser.getNameLoc();
    if (parse_loops(parser, state, loops)) return failure();
    if (loops.inputs.size() != 2 || loops.outputs.size() != 1) {
      return parser.emitError(loc, "expected two inputs and one output");
    }
    become_generic(parser.getBuilder(), state, loops, [&](OpBuilder& builder, Location where, ValueRange elements) {
      const Type type = elements[2].getType();
      const Value a = convertScalarToDtype(builder, where, elements[0], type, loops.is_unsigned);
      const Value b = convertScalarToDtype(builder, where, elements[1], type, loops.is_unsigned);
      return add(builder, where, elements[2], multiply(builder, where, a, b));
    });
    return success();
  }
};

class ElementwiseOp final : public ReadAsAnother<ElementwiseOp> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ElementwiseOp)
  using ReadAsAnother::ReadAsAnother;
  static StringRef getOperationName() { return "linalg.elementwise"; }
  static ParseResult parse(OpAsmParser& parser, OperationState& state) {
    Loops loops;
    StringRef kind;
    const SMLoc loc = parser.getNameLoc();
    if (parser.parseLess() || parser.parseKeyword(&kind) || parser.parseGreater() ||
        parse_loops(parser, state, loops)) {
      return failure();
    }
    const auto body = [&](OpBuilder& builder, Location where, ValueRange elements) {
      return element_of(builder, where, kind, elements.drop_back());
    };
    if (loops.outputs.size() == 1 && become_generic(parser.getBuilder(), state, loops, body)) return success();
    return parser.emitError(loc, "has no kind '") << kind << "' for elements of these types";
  }
};

Type truths_like(Type type) {
  const Type truth = IntegerType::get(type.getContext(), 1);
  const auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.cloneWith(std::nullopt, truth)) : truth;
}

// `%x : type`, compared with itself.
class IsNanOp final : public ReadAsAnother<IsNanOp> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IsNanOp)
  using ReadAsAnother::ReadAsAnother;
  static StringRef getOperationName() { return "math.isnan"; }
  static ParseResult parse(OpAsmParser& parser, OperationState& state) {
    OpAsmParser::UnresolvedOperand operand;
    Type type;
    if (parser.parseOperand(operand) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
        parser.resolveOperand(operand, type, state.operands) || parser.resolveOperand(operand, type, state.operands)) {
      return failure();
    }
    Builder& builder = parser.getBuilder();
    state.name = OperationName(arith::CmpFOp::getOperationName(), builder.getContext());
    state.addAttribute("predicate", arith::CmpFPredicateAttr::get(builder.getContext(), arith::CmpFPredicate::UNO));
    state.addTypes(truths_like(type));
    return success();
  }
};

// Operations on floats that give values of their type, or truths; lower/upstream_forms.cpp knows what they are.
template <typename Concrete, unsigned kResults, Type (*type_of_result)(Type)>
class LaterMathOp : public ReadAsAnother<Concrete> {
 public:
  using ReadAsAnother<Concrete>::ReadAsAnother;
  static ParseResult parse(OpAsmParser& parser, OperationState& state) {
    OpAsmParser::UnresolvedOperand operand;
    Type type;
    if (parser.parseOperand(operand) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
        parser.resolveOperand(operand, type, state.operands)) {
      return failure();
    }
    if (!isa<FloatType>(getElementTypeOrSelf(type))) return parser.emitError(parser.getNameLoc(), "expected a float");
    for (unsigned i = 0; i < kResults; ++i) state.addTypes(type_of_result(type));
    return success();
  }
};

Type same(Type type) { return type; }

class IsInfOp final : public LaterMathOp<IsInfOp, 1, truths_like> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IsInfOp)
  using LaterMathOp::LaterMathOp;
  static StringRef getOperationName() { return "math.isinf"; }
};

class IsFiniteOp final : public LaterMathOp<IsFiniteOp, 1, truths_like> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IsFiniteOp)
  using LaterMathOp::LaterMathOp;
  static StringRef getOperationName() { return "math.isfinite"; }
};

class IsNormalOp final : public LaterMathOp<IsNormalOp, 1, truths_like> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IsNormalOp)
  using LaterMathOp::LaterMathOp;
  static StringRef getOperationName() { return "math.isnormal"; }
};

class SinCosOp final : public LaterMathOp<SinCosOp, 2, same> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SinCosOp)
  using LaterMathOp::LaterMathOp;
  static StringRef getOperationName() { return "math.sincos"; }
};

}  // namespace

void register_later_forms(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext*, linalg::LinalgDialect* dialect) {
    RegisteredOperationName::insert<ContractOp>(*dialect);
    RegisteredOperationName::insert<ElementwiseOp>(*dialect);
  });
  registry.addExtension(+[](MLIRContext*, math::MathDialect* dialect) {
    RegisteredOperationName::insert<IsNanOp>(*dialect);
    RegisteredOperationName::insert<IsInfOp>(*dialect);
    RegisteredOperationName::insert<IsFiniteOp>(*dialect);
    RegisteredOperationName::insert<IsNormalOp>(*dialect);
    RegisteredOperationName::insert<SinCosOp>(*dialect);
  });
}

}  // namespace baton::compiler_lite
