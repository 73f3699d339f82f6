// The dialect `util`, and the text of its operations.
#include "compiler-lite/dialects/util/dialect.hpp"

#include "compiler-lite/dialects/shaped_types.hpp"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;                  // NOLINT: the generated code speaks MLIR.
using namespace baton::compiler_lite;  // NOLINT: the shared pieces of syntax.

#include "compiler-lite/dialects/util/util.dialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/util/util.types.cpp.inc"

namespace baton::compiler_lite::util {

void UtilDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler-lite/dialects/util/util.types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/util/util.ops.cpp.inc"
      >();
}

Operation* UtilDialect::materializeConstant(OpBuilder& builder, Attribute value, Type type, Location location) {
  return arith::ConstantOp::materialize(builder, value, type, location);
}

// `<i32>`; `<?>` holds anything.
Type ListType::parse(AsmParser& parser) {
  Type element;
  if (parser.parseLess()) return {};
  if (succeeded(parser.parseOptionalQuestion()))
    element = VariantType::get(parser.getContext());
  else if (parser.parseType(element))
    return {};
  return parser.parseGreater() ? Type() : get(parser.getContext(), element);
}
void ListType::print(AsmPrinter& printer) const {
  printer << "<";
  if (llvm::isa<VariantType>(getElement()))
    printer << "?";
  else
    printer << getElement();
  printer << ">";
}

namespace {

SignatureNames names_of(OperationName name) {
  return {FuncOp::getSymNameAttrName(name),       FuncOp::getFunctionTypeAttrName(name),
          FuncOp::getSymVisibilityAttrName(name), FuncOp::getArgAttrsAttrName(name),
          FuncOp::getResAttrsAttrName(name),      FuncOp::getTiedOperandsAttrName(name)};
}

// ` : i32` or ` = 5 : i32`
ParseResult parseGlobalValue(OpAsmParser& parser, TypeAttr& type, Attribute& value) {
  Type parsed;
  if (succeeded(parser.parseOptionalEqual())) {
    if (parser.parseAttribute(value)) return failure();
    if (const auto typed = dyn_cast<TypedAttr>(value); typed && !isa<NoneType>(typed.getType())) {
      parsed = typed.getType();
    }
  }
  if (!parsed && parser.parseColonType(parsed)) return failure();
  type = TypeAttr::get(parsed);
  return success();
}

void printGlobalValue(OpAsmPrinter& printer, Operation*, TypeAttr type, Attribute value) {
  if (!value) {
    printer << ": " << type.getValue();
    return;
  }
  printer << "= " << value;
  const auto typed = dyn_cast<TypedAttr>(value);
  if (!typed || isa<NoneType>(typed.getType())) printer << " : " << type.getValue();
}

// `!util.list<i32>`, or `!util.list<?> -> i32`: the type of an element that is got.
// `<umin = 1, udiv = 2>`, as a dictionary.
ParseResult parse_assumption(OpAsmParser& parser, SmallVector<Attribute>& assumptions) {
  NamedAttrList said;
  const auto one = [&]() -> ParseResult {
    StringRef name;
    int64_t value = 0;
    if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseInteger(value)) return failure();
    said.set(name, parser.getBuilder().getI64IntegerAttr(value));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::LessGreater, one)) return failure();
  assumptions.push_back(said.getDictionary(parser.getContext()));
  return success();
}

// `%a<umin = 1>, %b[<umin = 0>, <umin = 2>]`: a list for each integer.
ParseResult parseAssumptions(OpAsmParser& parser, UnresolvedList& operands, ArrayAttr& assumptions) {
  SmallVector<Attribute> all;
  const auto one = [&]() -> ParseResult {
    SmallVector<Attribute> of_this;
    if (parser.parseOperand(operands.emplace_back())) return failure();
    const auto assumption = [&] { return parse_assumption(parser, of_this); };
    if (failed(parser.parseOptionalLSquare())) {
      if (failed(assumption())) return failure();
    } else if (parser.parseCommaSeparatedList(assumption) || parser.parseRSquare()) {
      return failure();
    }
    all.push_back(parser.getBuilder().getArrayAttr(of_this));
    return success();
  };
  if (parser.parseCommaSeparatedList(one)) return failure();
  assumptions = parser.getBuilder().getArrayAttr(all);
  return success();
}

void print_assumption(OpAsmPrinter& printer, Attribute assumption) {
  printer << "<";
  llvm::interleaveComma(cast<DictionaryAttr>(assumption), printer, [&](const NamedAttribute& each) {
    printer << each.getName().getValue() << " = " << cast<IntegerAttr>(each.getValue()).getInt();
  });
  printer << ">";
}

void printAssumptions(OpAsmPrinter& printer, Operation*, OperandRange operands, ArrayAttr assumptions) {
  llvm::interleaveComma(llvm::zip(operands, assumptions), printer, [&](const auto& each) {
    const auto of_this = cast<ArrayAttr>(std::get<1>(each));
    printer << std::get<0>(each);
    if (of_this.size() == 1) return print_assumption(printer, of_this[0]);
    printer << "[";
    llvm::interleaveComma(of_this, printer, [&](Attribute assumption) { print_assumption(printer, assumption); });
    printer << "]";
  });
}

ParseResult parseListElement(OpAsmParser& parser, Type& list, Type& element) {
  if (parser.parseType(list)) return failure();
  if (succeeded(parser.parseOptionalArrow())) return parser.parseType(element);
  const auto type = dyn_cast<ListType>(list);
  if (!type) return parser.emitError(parser.getCurrentLocation()) << list << " is no !util.list";
  element = type.getElement();
  return success();
}
void printListElement(OpAsmPrinter& printer, Operation*, Type list, Type element) {
  printer << list;
  if (cast<ListType>(list).getElement() != element) printer << " -> " << element;
}

// `!util.list<i32>`, or `i32 -> !util.list<?>`: the type of a value that is set.
ParseResult parseListValue(OpAsmParser& parser, Type& list, Type& value) {
  if (parser.parseType(list)) return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    value = list;
    return parser.parseType(list);
  }
  const auto type = dyn_cast<ListType>(list);
  if (!type) return parser.emitError(parser.getCurrentLocation()) << list << " is no !util.list";
  value = type.getElement();
  return success();
}
void printListValue(OpAsmPrinter& printer, Operation*, Type list, Type value) {
  if (cast<ListType>(list).getElement() != value) printer << value << " -> ";
  printer << list;
}

// What a module-level symbol is, when it is known: calls may name functions that a later pass brings.
Operation* find_symbol(SymbolTableCollection& tables, Operation* from, FlatSymbolRefAttr name) {
  return tables.lookupNearestSymbolFrom(from, name);
}

LogicalResult verify_global(SymbolTableCollection& tables, Operation* op, FlatSymbolRefAttr name, Type type,
                            bool stores) {
  auto global = dyn_cast_or_null<GlobalOp>(find_symbol(tables, op, name));
  if (!global) return op->emitOpError() << "names " << name << ", which is no util.global";
  if (global.getType() != type) {
    return op->emitOpError() << "has type " << type << ", and " << name << " is a " << global.getType();
  }
  if (stores && !global.getIsMutable() && !op->getParentOfType<InitializerOp>()) {
    return op->emitOpError() << "writes " << name << ", which is not mutable";
  }
  return success();
}

}  // namespace

void FuncOp::build(OpBuilder& builder, OperationState& state, StringRef name, FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addRegion();
}
ParseResult FuncOp::parse(OpAsmParser& parser, OperationState& state) {
  return parse_function(parser, state, names_of(state.name));
}
void FuncOp::print(OpAsmPrinter& printer) { print_function(printer, *this, names_of((*this)->getName())); }

void CallOp::build(OpBuilder& builder, OperationState& state, StringRef callee, TypeRange results,
                   ValueRange operands) {
  state.addOperands(operands);
  state.addAttribute(getCalleeAttrName(state.name), FlatSymbolRefAttr::get(builder.getContext(), callee));
  state.addTypes(results);
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection& tables) {
  Operation* found = find_symbol(tables, *this, getCalleeAttr());
  if (!found) return emitOpError() << "calls " << getCalleeAttr() << ", which is not declared";
  auto function = dyn_cast<FunctionOpInterface>(found);
  if (!function) return emitOpError() << "calls " << getCalleeAttr() << ", which is no function";
  const auto type = dyn_cast<FunctionType>(function.getFunctionType());
  if (!type || (TypeRange(type.getInputs()) == TypeRange(getOperands()) &&
                TypeRange(type.getResults()) == TypeRange(getResultTypes()))) {
    return success();
  }
  return emitOpError() << "is " << FunctionType::get(getContext(), getOperandTypes(), getResultTypes()) << ", and "
                       << getCalleeAttr() << " is " << type;
}

LogicalResult ReturnOp::verify() {
  auto function = dyn_cast<FuncOp>((*this)->getParentOp());
  if (!function) return success();
  if (TypeRange(function.getResultTypes()) == TypeRange(getOperandTypes())) return success();
  InFlightDiagnostic error = emitOpError() << "returns (";
  llvm::interleaveComma(getOperandTypes(), error);
  return error << "), and @" << function.getSymName() << " is " << function.getFunctionType();
}

LogicalResult GlobalLoadOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verify_global(tables, *this, getGlobalAttr(), getType(), /*stores=*/false);
}
LogicalResult GlobalStoreOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verify_global(tables, *this, getGlobalAttr(), getValue().getType(), /*stores=*/true);
}

LogicalResult BufferConstantOp::verify() {
  if (isa<StringAttr, ElementsAttr>(getValue())) return success();
  return emitOpError() << "has the value " << getValue() << "; a string or dense elements have bytes";
}

LogicalResult AssumeIntOp::inferReturnTypes(MLIRContext*, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange, SmallVectorImpl<Type>& types) {
  types.assign(operands.getTypes().begin(), operands.getTypes().end());
  return success();
}

LogicalResult OptimizationBarrierOp::inferReturnTypes(MLIRContext*, std::optional<Location>, ValueRange operands,
                                                      DictionaryAttr, OpaqueProperties, RegionRange,
                                                      SmallVectorImpl<Type>& types) {
  types.assign(operands.getTypes().begin(), operands.getTypes().end());
  return success();
}

LogicalResult UnfoldableConstantOp::inferReturnTypes(MLIRContext* context, std::optional<Location> location,
                                                     ValueRange operands, DictionaryAttr attributes,
                                                     OpaqueProperties properties, RegionRange regions,
                                                     SmallVectorImpl<Type>& types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  (void)context, (void)location;
  types.assign({cast<TypedAttr>(adaptor.getValue()).getType()});
  return success();
}

}  // namespace baton::compiler_lite::util

#define GET_OP_CLASSES
#include "compiler-lite/dialects/util/util.ops.cpp.inc"
