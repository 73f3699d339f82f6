// The dialect `hal`, and the text of its operations.
#include "compiler-lite/dialects/hal/dialect.hpp"

#include "compiler-lite/dialects/later_collectives.hpp"
#include "compiler-lite/dialects/shaped_types.hpp"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;                  // NOLINT: the generated code speaks MLIR.
using namespace baton::compiler_lite;  // NOLINT: the shared pieces of syntax.

#include "compiler-lite/dialects/hal/hal.dialect.cpp.inc"

namespace baton::compiler_lite::hal {

std::optional<Dialect::ParseOpHook> HalDialect::getParseOperationHook(StringRef name) const {
  return refusal_of_later_collective(name);
}

void HalDialect::initialize() {
  register_attributes_and_types();
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/hal/hal.ops.cpp.inc"
      >();
}

namespace {

// `word(3)`, or nothing.
ParseResult parse_word_number(OpAsmParser& parser, StringRef word, IntegerAttr& number) {
  int64_t value = 0;
  if (failed(parser.parseOptionalKeyword(word))) return success();
  if (parser.parseLParen() || parser.parseInteger(value) || parser.parseRParen()) return failure();
  number = parser.getBuilder().getIndexAttr(value);
  return success();
}
void print_word_number(OpAsmPrinter& printer, StringRef word, IntegerAttr number) {
  if (number) printer << " " << word << "(" << number.getInt() << ")";
}

ParseResult parseOrdinal(OpAsmParser& parser, IntegerAttr& number) {
  return parse_word_number(parser, "ordinal", number);
}
void printOrdinal(OpAsmPrinter& printer, Operation*, IntegerAttr number) {
  print_word_number(printer, "ordinal", number);
}
ParseResult parseAlignment(OpAsmParser& parser, IntegerAttr& number) {
  return parse_word_number(parser, "alignment", number);
}
void printAlignment(OpAsmPrinter& printer, Operation*, IntegerAttr number) {
  print_word_number(printer, "alignment", number);
}
ParseResult parseBindingOrdinal(OpAsmParser& parser, IntegerAttr& number) {
  const SMLoc where = parser.getCurrentLocation();
  if (parse_word_number(parser, "binding", number)) return failure();
  return number ? ParseResult(success()) : parser.emitError(where, "expected 'binding'");
}
void printBindingOrdinal(OpAsmPrinter& printer, Operation*, IntegerAttr number) {
  print_word_number(printer, "binding", number);
}

// `upper_bound 128`, or nothing.
ParseResult parseUpperBound(OpAsmParser& parser, IntegerAttr& bound) {
  int64_t value = 0;
  if (failed(parser.parseOptionalKeyword("upper_bound"))) return success();
  if (parser.parseInteger(value)) return failure();
  bound = parser.getBuilder().getIndexAttr(value);
  return success();
}
void printUpperBound(OpAsmPrinter& printer, Operation*, IntegerAttr bound) {
  if (bound) printer << " upper_bound " << bound.getInt();
}

// `ReadOnly` or `"ReadOnly|Indirect"`
ParseResult parseFlagWord(OpAsmParser& parser, StringAttr& flags) {
  std::string text;
  StringRef word;
  if (failed(parser.parseOptionalString(&text))) {
    if (parser.parseKeyword(&word)) return failure();
    text = word.str();
  }
  flags = parser.getBuilder().getStringAttr(text);
  return success();
}
void printFlagWord(OpAsmPrinter& printer, Operation*, StringAttr flags) {
  if (flags.getValue().contains('|'))
    printer << flags;
  else
    printer << flags.getValue();
}

// `(%device: !hal.device) -> i1 { ... }`
ParseResult parseCondition(OpAsmParser& parser, Region& body) {
  SmallVector<Type> types;
  const SMLoc where = parser.getCurrentLocation();
  if (parse_region_function(parser, body, types)) return failure();
  if (types.size() == 1 && types[0].isInteger(1)) return success();
  return parser.emitError(where, "a condition is an i1");
}
void printCondition(OpAsmPrinter& printer, Operation*, Region& body) {
  print_region_function(printer, body, IntegerType::get(body.getContext(), 1));
}

// `count(...) -> (index, index, index) {...} attributes {...}`: in either order, each or none.
ParseResult parseCountAndAttributes(OpAsmParser& parser, Region& body, NamedAttrList& attributes) {
  if (parser.parseOptionalAttrDictWithKeyword(attributes) || parseOptionalCount(parser, body)) return failure();
  return attributes.empty() ? parser.parseOptionalAttrDictWithKeyword(attributes) : ParseResult(success());
}
void printCountAndAttributes(OpAsmPrinter& printer, Operation* op, Region& body, DictionaryAttr attributes) {
  printOptionalCount(printer, op, body);
  printer.printOptionalAttrDictWithKeyword(attributes.getValue(),
                                           {"sym_visibility", "sym_name", "ordinal", "layout", "condition_fallback"});
}

// `tensor<4xf32> as tensor<?xf32>{%n}`, the encoding first when there is one
ParseResult parseEncodedType(OpAsmParser& parser, TypeAttr& encoding, Type& type, UnresolvedList& dims) {
  if (parser.parseType(type)) return failure();
  if (succeeded(parser.parseOptionalKeyword("as"))) {
    encoding = TypeAttr::get(type);
    return parseShapedType(parser, type, dims);
  }
  const SMLoc where = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLBrace()) && (parser.parseOperandList(dims) || parser.parseRBrace())) {
    return failure();
  }
  if (dims.size() == dynamic_dim_count(type)) return success();
  return parser.emitError(where) << type << " has " << dynamic_dim_count(type) << " dynamic dimensions, and "
                                 << dims.size() << " values are given for them";
}
void printEncodedType(OpAsmPrinter& printer, Operation* op, TypeAttr encoding, Type type, OperandRange dims) {
  if (encoding) printer << encoding.getValue() << " as ";
  printShapedType(printer, op, type, dims);
}

ParseResult parseShapedTypeTwice(OpAsmParser& parser, Type& type, Type& again, UnresolvedList& dims) {
  if (parseShapedType(parser, type, dims)) return failure();
  again = type;
  return success();
}
void printShapedTypeTwice(OpAsmPrinter& printer, Operation* op, Type type, Type, OperandRange dims) {
  printShapedType(printer, op, type, dims);
}

ParseResult parseSameTypes(OpAsmParser& parser, TypeList& types, TypeList& again) {
  if (parser.parseTypeList(types)) return failure();
  again.append(types.begin(), types.end());
  return success();
}
void printSameTypes(OpAsmPrinter& printer, Operation*, TypeRange types, TypeRange) {
  llvm::interleaveComma(types, printer);
}

}  // namespace

LogicalResult TensorImportOp::verify() {
  if (getTargetDims().size() == dynamic_dim_count(getTarget().getType())) return success();
  return emitOpError() << "gives " << getTargetDims().size() << " dimensions for " << getTarget().getType();
}

// `(%device) -> (i32, i32) as ("a", "b") { ... }`
ParseResult ExecutableConstantBlockOp::parse(OpAsmParser& parser, OperationState& state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> results, types;
  SmallVector<Attribute> names;
  const auto name = [&]() -> ParseResult {
    StringAttr attribute;
    if (parser.parseAttribute(attribute)) return failure();
    names.push_back(attribute);
    return success();
  };
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseArrowTypeList(results) || parser.parseKeyword("as")) {
    return failure();
  }
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseCommaSeparatedList(name) || parser.parseRParen()) return failure();
  } else if (name()) {
    return failure();
  }
  for (const OpAsmParser::Argument& argument : arguments) types.push_back(argument.type);
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(parser.getBuilder().getFunctionType(types, results)));
  state.addAttribute(getKeysAttrName(state.name), parser.getBuilder().getArrayAttr(names));
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes)) return failure();
  return parser.parseRegion(*state.addRegion(), arguments);
}

void ExecutableConstantBlockOp::print(OpAsmPrinter& printer) {
  const auto type = cast<FunctionType>(getFunctionType());
  printer << "(";
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument argument) { printer << argument << ": " << argument.getType(); });
  printer << ") ";
  printer.printArrowTypeList(type.getResults());
  printer << " as (";
  llvm::interleaveComma(getKeys(), printer);
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getFunctionTypeAttrName(), getKeysAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

namespace {

struct ExternObjects {
  SmallVector<Attribute> targets, objects;
  SmallVector<int64_t> ordinals;
  SmallVector<std::unique_ptr<Region>> conditions;
};

// `#target if(%d: !hal.device) -> i1 {...} ordinal(0) = [#object]`
ParseResult parse_extern_object(OpAsmParser& parser, ExternObjects& all) {
  ExecutableTargetAttr target;
  ArrayAttr objects;
  int64_t ordinal = 0;
  all.conditions.push_back(std::make_unique<Region>());
  if (parser.parseAttribute(target)) return failure();
  if (succeeded(parser.parseOptionalKeyword("if")) && parseCondition(parser, *all.conditions.back())) return failure();
  if (parser.parseKeyword("ordinal") || parser.parseLParen() || parser.parseInteger(ordinal) || parser.parseRParen() ||
      parser.parseEqual() || parser.parseAttribute(objects)) {
    return failure();
  }
  all.targets.push_back(target);
  all.objects.push_back(objects);
  all.ordinals.push_back(ordinal);
  return success();
}

}  // namespace

ParseResult DispatchExternOp::parse(OpAsmParser& parser, OperationState& state) {
  const auto& name = state.name;
  StringAttr entry_point;
  SmallVector<Unresolved> workload, arguments, argument_dims, result_dims;
  SmallVector<Type> argument_types, result_types;
  ArrayAttr tied;
  Attribute layout;
  ExternObjects objects;
  Region* count = state.addRegion();
  Builder& builder = parser.getBuilder();
  if (parser.parseAttribute(entry_point) || parser.parseOperandList(workload, OpAsmParser::Delimiter::OptionalSquare)) {
    return failure();
  }
  const SMLoc where = parser.getCurrentLocation();
  if (parser.parseOperandList(arguments, OpAsmParser::Delimiter::Paren) || parser.parseColon() ||
      parseShapedFunctionType(parser, arguments, argument_types, argument_dims, result_types, result_dims, tied) ||
      parser.parseKeyword("count") || parseWorkgroupCount(parser, *count) || parser.parseKeyword("layout") ||
      parser.parseLParen() || parser.parseAttribute(layout) || parser.parseRParen() || parser.parseKeyword("objects") ||
      parser.parseLParen() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces,
                                     [&] { return parse_extern_object(parser, objects); }) ||
      parser.parseRParen() || parser.parseOptionalAttrDictWithKeyword(state.attributes)) {
    return failure();
  }
  const Type index = builder.getIndexType();
  if (parser.resolveOperands(workload, index, state.operands) ||
      parser.resolveOperands(arguments, argument_types, where, state.operands) ||
      parser.resolveOperands(argument_dims, index, state.operands) ||
      parser.resolveOperands(result_dims, index, state.operands)) {
    return failure();
  }
  auto& properties = state.getOrAddProperties<Properties>();
  const size_t sizes[] = {workload.size(), arguments.size(), argument_dims.size(), result_dims.size()};
  for (size_t i = 0; i < 4; ++i) properties.operandSegmentSizes[i] = static_cast<int32_t>(sizes[i]);
  state.addAttribute(getExportNameAttrName(name), entry_point);
  state.addAttribute(getLayoutAttrName(name), layout);
  if (tied) state.addAttribute(getTiedOperandsAttrName(name), tied);
  state.addAttribute(getTargetsAttrName(name), builder.getArrayAttr(objects.targets));
  state.addAttribute(getTargetObjectsAttrName(name), builder.getArrayAttr(objects.objects));
  state.addAttribute(getTargetOrdinalsAttrName(name), builder.getDenseI64ArrayAttr(objects.ordinals));
  state.addTypes(result_types);
  state.addRegions(objects.conditions);
  return success();
}

void DispatchExternOp::print(OpAsmPrinter& printer) {
  printer << " " << getExportNameAttr();
  if (!getWorkload().empty()) printer << "[" << getWorkload() << "]";
  printer << "(" << getArguments() << ") : ";
  printShapedFunctionType(printer, *this, getArguments(), getArguments().getTypes(), getArgumentDims(),
                          getResultTypes(), getResultDims(), getTiedOperandsAttr());
  printer.increaseIndent();
  printer.printNewline();
  printer << "count";
  printWorkgroupCount(printer, *this, getWorkgroupCount());
  printer.printNewline();
  printer << "layout(" << getLayout() << ")";
  printer.printNewline();
  printer << "objects({";
  for (unsigned i = 0; i < getTargets().size(); ++i) {
    printer << (i == 0 ? "" : ", ") << getTargets()[i];
    if (!getTargetConditions()[i].empty()) {
      printer << " if";
      printCondition(printer, *this, getTargetConditions()[i]);
    }
    printer << " ordinal(" << getTargetOrdinals()[i] << ") = " << getTargetObjects()[i];
  }
  printer << "})";
  printer.decreaseIndent();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getExportNameAttrName(), getLayoutAttrName(), getTiedOperandsAttrName(), getTargetsAttrName(),
       getTargetObjectsAttrName(), getTargetOrdinalsAttrName(), getOperandSegmentSizesAttrName()});
}

}  // namespace baton::compiler_lite::hal

#define GET_OP_CLASSES
#include "compiler-lite/dialects/hal/hal.ops.cpp.inc"
