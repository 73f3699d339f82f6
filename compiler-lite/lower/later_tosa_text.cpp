#include "compiler-lite/lower/later_tosa_text.hpp"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file reads MLIR.

namespace {

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

constexpr llvm::StringRef kWords[] = {"PROPAGATE",    "IGNORE",       "BILINEAR",     "NEAREST_NEIGHBOR",
                                      "DOUBLE_ROUND", "SINGLE_ROUND", "INEXACT_ROUND"};

// Lists are written [1, 0] where attributes in braces have array<i32: 1, 0>, and numbers without their type.
Attribute typed(Builder& builder, StringRef name, Attribute value) {
  if (const auto list = dyn_cast<ArrayAttr>(value)) {
    SmallVector<int64_t> numbers;
    for (const Attribute each : list) {
      const auto number = dyn_cast<IntegerAttr>(each);
      if (!number) return value;
      numbers.push_back(number.getValue().getSExtValue());
    }
    if (name != "perms") return builder.getDenseI64ArrayAttr(numbers);
    return builder.getDenseI32ArrayAttr(llvm::to_vector_of<int32_t>(numbers));
  }
  const auto number = dyn_cast<IntegerAttr>(value);
  return name == "axis" && number ? builder.getI32IntegerAttr(static_cast<int32_t>(number.getInt())) : value;
}

ParseResult parse_value(OpAsmParser& parser, StringRef name, NamedAttrList& attributes) {
  StringRef word;
  Attribute value;
  if (succeeded(parser.parseOptionalKeyword(&word, kWords))) {
    value = parser.getBuilder().getStringAttr(word);
  } else if (parser.parseAttribute(value)) {
    return failure();
  }
  attributes.set(name, typed(parser.getBuilder(), name, value));
  return success();
}

// `axis(0)`, `mode<BILINEAR>`.
ParseResult parse_clauses(OpAsmParser& parser, NamedAttrList& attributes) {
  StringRef name;
  while (succeeded(parser.parseOptionalKeyword(&name))) {
    const bool is_word = succeeded(parser.parseOptionalLess());
    if (!is_word && parser.parseLParen()) return failure();
    if (parse_value(parser, name, attributes)) return failure();
    if (is_word ? parser.parseGreater() : parser.parseRParen()) return failure();
  }
  return success();
}

// `{axis = 0 : i32, rounding_mode = DOUBLE_ROUND}`.
ParseResult parse_braces(OpAsmParser& parser, NamedAttrList& attributes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces, [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name)) return failure();
    if (succeeded(parser.parseOptionalEqual())) return parse_value(parser, name, attributes);
    attributes.set(name, parser.getBuilder().getUnitAttr());
    return success();
  });
}

// `%a, %b clauses {attributes} : (types) -> types`.
ParseResult parse_values(OpAsmParser& parser, OperationState& state) {
  Operands operands;
  FunctionType type;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parse_clauses(parser, state.attributes) ||
      parse_braces(parser, state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, state.operands)) {
    return failure();
  }
  state.addTypes(type.getResults());
  return success();
}

// `%a, %b : types`.
ParseResult parse_yield(OpAsmParser& parser, OperationState& state) {
  Operands operands;
  SmallVector<Type> types;
  const SMLoc loc = parser.getCurrentLocation();
  return failure(parser.parseOperandList(operands) || parser.parseOptionalAttrDict(state.attributes) ||
                 (!operands.empty() && parser.parseColonTypeList(types)) ||
                 parser.resolveOperands(operands, types, loc, state.operands));
}

// `%condition (%a = %x) : condition's type (types) -> types {...} else {...}`; each region names its arguments again.
ParseResult parse_branch(OpAsmParser& parser, OperationState& state) {
  OpAsmParser::UnresolvedOperand condition;
  SmallVector<OpAsmParser::Argument> names;
  Operands operands;
  Type type = RankedTensorType::get({}, parser.getBuilder().getI1Type());
  SmallVector<Type> types, results;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperand(condition)) return failure();
  const OptionalParseResult has_names = parser.parseOptionalAssignmentList(names, operands);
  if (has_names.has_value() && failed(*has_names)) return failure();
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(type)) return failure();
  if (!operands.empty() && (parser.parseLParen() || parser.parseTypeList(types) || parser.parseRParen())) {
    return failure();
  }
  if (parser.parseOptionalArrowTypeList(results) || parser.resolveOperand(condition, type, state.operands) ||
      parser.resolveOperands(operands, types, loc, state.operands)) {
    return failure();
  }
  state.addTypes(results);
  Region *then = state.addRegion(), *otherwise = state.addRegion();
  return failure(parser.parseRegion(*then) || parser.parseKeyword("else") || parser.parseRegion(*otherwise) ||
                 parser.parseOptionalAttrDictWithKeyword(state.attributes));
}

// `(%a = %x) : (types) -> types {...} do {...}`.
ParseResult parse_loop(OpAsmParser& parser, OperationState& state) {
  SmallVector<OpAsmParser::Argument> names;
  Operands operands;
  FunctionType type;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(names, operands) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, state.operands)) {
    return failure();
  }
  for (const auto [argument, its_type] : llvm::zip(names, type.getInputs())) argument.type = its_type;
  state.addTypes(type.getResults());
  Region *condition = state.addRegion(), *body = state.addRegion();
  return failure(parser.parseRegion(*condition, names) || parser.parseKeyword("do") || parser.parseRegion(*body) ||
                 parser.parseOptionalAttrDictWithKeyword(state.attributes));
}

// `@v = dense<1.0> : tensor<2xf32>`, or `@v : tensor<2xf32>`.
ParseResult parse_variable(OpAsmParser& parser, OperationState& state) {
  StringAttr name;
  if (parser.parseSymbolName(name, "name", state.attributes) || parse_braces(parser, state.attributes)) {
    return failure();
  }
  Attribute value;
  Type type;
  if (succeeded(parser.parseOptionalEqual())) {
    if (parser.parseAttribute(value)) return failure();
    state.addAttribute("initial_value", value);
    const auto elements = dyn_cast<ElementsAttr>(value);
    if (!elements) return parser.emitError(parser.getNameLoc(), "expected the elements of a tensor");
    type = elements.getType();
  } else if (parser.parseColonType(type)) {
    return failure();
  }
  state.addAttribute("type", TypeAttr::get(type));
  return success();
}

// `@v : type`, and `@v, %x : type`.
ParseResult parse_variable_access(OpAsmParser& parser, OperationState& state) {
  StringAttr name;
  OpAsmParser::UnresolvedOperand operand;
  Type type;
  if (parser.parseSymbolName(name, "name", state.attributes)) return failure();
  const bool is_write = succeeded(parser.parseOptionalComma());
  if ((is_write && parser.parseOperand(operand)) || parse_braces(parser, state.attributes) ||
      parser.parseColonType(type)) {
    return failure();
  }
  if (is_write) return parser.resolveOperand(operand, type, state.operands);
  state.addTypes(type);
  return success();
}

}  // namespace

std::optional<Dialect::ParseOpHook> LaterTosaDialect::getParseOperationHook(StringRef operation) const {
  if (operation == "tosa.yield") return parse_yield;
  if (operation == "tosa.cond_if") return parse_branch;
  if (operation == "tosa.while_loop") return parse_loop;
  if (operation == "tosa.variable") return parse_variable;
  if (operation.starts_with("tosa.variable")) return parse_variable_access;
  return parse_values;
}

Type LaterTosaDialect::parseType(DialectAsmParser& parser) const {
  int64_t rank = 0;
  if (parser.parseKeyword("shape") || parser.parseLess() || parser.parseInteger(rank) || parser.parseGreater()) {
    return {};
  }
  return NoneType::get(getContext());
}

Attribute LaterTosaDialect::parseAttribute(DialectAsmParser& parser, Type) const {
  StringRef kind, word;
  if (parser.parseKeyword(&kind) || parser.parseLess() || parser.parseKeyword(&word) || parser.parseGreater()) {
    return {};
  }
  return StringAttr::get(getContext(), word);
}

}  // namespace baton::compiler_lite::lower
