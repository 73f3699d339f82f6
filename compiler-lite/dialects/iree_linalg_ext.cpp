#include "compiler-lite/dialects/iree_linalg_ext.hpp"

#include "compiler-lite/dialects/tm_tensor/dialect.hpp"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::iree_linalg_ext {

using namespace mlir;  // NOLINT: this file reads MLIR.

namespace {

constexpr StringRef kNames[] = {"arg_compare", "attention", "gather", "reverse", "scan",
                                "scatter",     "softmax",   "sort",   "topk",    "topk_v2"};

struct Operands {
  SmallVector<Value> inputs, outputs, others;
};

// `(%a, %b : types)`.
ParseResult parse_operands(OpAsmParser& parser, SmallVector<Value>& values) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  if (parser.parseLParen()) return failure();
  const SMLoc loc = parser.getCurrentLocation();
  return failure(parser.parseOperandList(operands) || parser.parseColonTypeList(types) || parser.parseRParen() ||
                 parser.resolveOperands(operands, types, loc, values));
}

ParseResult parse_attribute(OpAsmParser& parser, StringRef name, NamedAttrList& attributes) {
  Attribute value;
  if (parser.parseAttribute(value)) return failure();
  attributes.set(name, value);
  return success();
}

// `dimension(0)`, `dimension_map = [0, 1]`, `is_sorted`, `ins(%a : type)`.
ParseResult parse_clause(OpAsmParser& parser, StringRef name, Operands& operands, NamedAttrList& attributes) {
  if (name == "ins") return parse_operands(parser, operands.inputs);
  if (name == "outs") return parse_operands(parser, operands.outputs);
  if (name == "index_base") return parse_operands(parser, operands.others);
  if (succeeded(parser.parseOptionalEqual())) return parse_attribute(parser, name, attributes);
  if (failed(parser.parseOptionalLParen())) {
    attributes.set(name, parser.getBuilder().getUnitAttr());
    return success();
  }
  return failure(parse_attribute(parser, name, attributes) || parser.parseRParen());
}

// `<indexing_maps = [maps]>`.
ParseResult parse_optional_parameters(OpAsmParser& parser, NamedAttrList& attributes) {
  if (failed(parser.parseOptionalLess())) return success();
  StringRef name;
  do {
    if (parser.parseKeyword(&name) || parser.parseEqual() || parse_attribute(parser, name, attributes))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseGreater();
}

// Clauses, where braces before the first tensors hold attributes and those behind the last a region; then the results' types.
ParseResult parse_operation(OpAsmParser& parser, OperationState& state) {
  Operands operands;
  if (parse_optional_parameters(parser, state.attributes) || parser.parseOptionalAttrDict(state.attributes)) {
    return failure();
  }
  StringRef name;
  while (succeeded(parser.parseOptionalKeyword(&name))) {
    if (parse_clause(parser, name, operands, state.attributes)) return failure();
    const bool has_tensors = !operands.inputs.empty() || !operands.outputs.empty();
    if (!has_tensors && parser.parseOptionalAttrDict(state.attributes)) return failure();
  }
  Region* region = state.addRegion();
  const OptionalParseResult body = parser.parseOptionalRegion(*region);
  if (body.has_value() && failed(*body)) return failure();
  if (succeeded(parser.parseOptionalColon()) ? parser.parseTypeList(state.types)
                                             : parser.parseOptionalArrowTypeList(state.types)) {
    return failure();
  }
  // A list of several results without parentheses.
  while (succeeded(parser.parseOptionalComma())) {
    if (parser.parseType(state.types.emplace_back())) return failure();
  }
  state.addOperands(operands.inputs);
  state.addOperands(operands.outputs);
  state.addOperands(operands.others);
  const auto count = [](ArrayRef<Value> values) { return static_cast<int32_t>(values.size()); };
  state.addAttribute(kSegments, parser.getBuilder().getDenseI32ArrayAttr(
                                    {count(operands.inputs), count(operands.outputs), count(operands.others)}));
  return success();
}

ParseResult parse_yield(OpAsmParser& parser, OperationState& state) {
  state.name = OperationName(tm_tensor::YieldOp::getOperationName(), parser.getContext());
  return tm_tensor::YieldOp::parse(parser, state);
}

ParseResult refuse(OpAsmParser& parser, OperationState&) {
  return parser.emitError(parser.getNameLoc(), "is not lowered: of this dialect there are ")
         << llvm::join(ArrayRef<StringRef>(kNames), ", ") << "; what linalg has is lowered.";
}

}  // namespace

LinalgExtDialect::LinalgExtDialect(MLIRContext* of)
    : Dialect(getDialectNamespace(), of, TypeID::get<LinalgExtDialect>()) {
  allowUnknownOperations();
}

std::optional<Dialect::ParseOpHook> LinalgExtDialect::getParseOperationHook(StringRef operation) const {
  operation.consume_front("iree_linalg_ext.");
  if (operation == "yield") return parse_yield;
  if (llvm::is_contained(kNames, operation)) return parse_operation;
  return refuse;
}

}  // namespace baton::compiler_lite::iree_linalg_ext
