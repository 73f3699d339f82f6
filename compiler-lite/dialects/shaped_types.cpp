#include "compiler-lite/dialects/shaped_types.hpp"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite {

using namespace mlir;  // NOLINT: this file is about MLIR's text.

namespace {

bool is_resource(Type type) { return type.getAbstractType().getName() == "stream.resource"; }

// `{%a, %b}`: as many as the type asks for.
ParseResult parse_dims(OpAsmParser& parser, Type type, UnresolvedList& dims) {
  const SMLoc where = parser.getCurrentLocation();
  const size_t before = dims.size();
  if (succeeded(parser.parseOptionalLBrace())) {
    if (parser.parseOperandList(dims) || parser.parseRBrace()) return failure();
  }
  const size_t given = dims.size() - before;
  if (given == dynamic_dim_count(type)) return success();
  return parser.emitError(where) << type << " has " << dynamic_dim_count(type) << " dynamic dimensions, and " << given
                                 << " values are given for them";
}

void print_dims(OpAsmPrinter& printer, Type type, ValueRange& dims) {
  const size_t count = dynamic_dim_count(type);
  if (count != 0) printer << "{" << dims.take_front(count) << "}";
  dims = dims.drop_front(count);
}

// Which operand a tied result names.
int64_t operand_named(UnresolvedRef operands, const Unresolved& name) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].name == name.name && operands[i].number == name.number) return static_cast<int64_t>(i);
  }
  return -1;
}

struct Results {
  TypeList& types;
  UnresolvedList* dims;  // Null where dimensions aren't written.
  SmallVector<int64_t> tied;
};

// `tensor<?xf32>{%n}` or `%operand as tensor<4xf32>{%n}`
ParseResult parse_result(OpAsmParser& parser, UnresolvedRef operands, ArrayRef<Type> operand_types, Results& results) {
  Unresolved name;
  Type type;
  int64_t tied = -1;
  const SMLoc where = parser.getCurrentLocation();
  const OptionalParseResult is_tied = parser.parseOptionalOperand(name);
  if (is_tied.has_value()) {
    if (failed(*is_tied)) return failure();
    tied = operand_named(operands, name);
    if (tied < 0) return parser.emitError(where, "the tied result names none of the operands");
    type = operand_types[static_cast<size_t>(tied)];
    if (succeeded(parser.parseOptionalKeyword("as")) && parser.parseType(type)) return failure();
  } else if (parser.parseType(type)) {
    return failure();
  }
  results.types.push_back(type);
  results.tied.push_back(tied);
  return results.dims ? parse_dims(parser, type, *results.dims) : success();
}

ParseResult parse_results(OpAsmParser& parser, UnresolvedRef operands, ArrayRef<Type> operand_types, Results& results) {
  if (failed(parser.parseOptionalLParen())) return parse_result(parser, operands, operand_types, results);
  if (succeeded(parser.parseOptionalRParen())) return success();
  if (parser.parseCommaSeparatedList([&] { return parse_result(parser, operands, operand_types, results); })) {
    return failure();
  }
  return parser.parseRParen();
}

ArrayAttr tied_attribute(Builder builder, ArrayRef<int64_t> tied) {
  return llvm::all_of(tied, [](int64_t operand) { return operand < 0; }) ? ArrayAttr() : builder.getI64ArrayAttr(tied);
}

int64_t tied_operand(ArrayAttr tied, size_t result) {
  return tied ? cast<IntegerAttr>(tied.getValue()[result]).getInt() : -1;
}

ParseResult parse_shaped_function(OpAsmParser& parser, UnresolvedRef operands, TypeList& operand_types,
                                  UnresolvedList* operand_dims, TypeList& result_types, UnresolvedList* result_dims,
                                  ArrayAttr& tied) {
  const SMLoc where = parser.getCurrentLocation();
  const auto argument = [&]() -> ParseResult {
    if (parser.parseType(operand_types.emplace_back())) return failure();
    return operand_dims ? parse_dims(parser, operand_types.back(), *operand_dims) : success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, argument)) return failure();
  if (operand_types.size() != operands.size()) {
    return parser.emitError(where) << operands.size() << " operands have " << operand_types.size() << " types";
  }
  Results results{result_types, result_dims, {}};
  if (parser.parseArrow() || parse_results(parser, operands, operand_types, results)) return failure();
  tied = tied_attribute(parser.getBuilder(), results.tied);
  return success();
}

void print_shaped_function(OpAsmPrinter& printer, ValueRange operands, TypeRange operand_types, ValueRange operand_dims,
                           TypeRange result_types, ValueRange result_dims, bool with_dims, ArrayAttr tied) {
  printer << "(";
  llvm::interleaveComma(operand_types, printer, [&](Type type) {
    printer << type;
    if (with_dims) print_dims(printer, type, operand_dims);
  });
  printer << ") -> ";
  if (result_types.size() != 1) printer << "(";
  size_t result = 0;
  llvm::interleaveComma(result_types, printer, [&](Type type) {
    const int64_t operand = tied_operand(tied, result++);
    if (operand < 0) {
      printer << type;
    } else {
      printer << operands[static_cast<size_t>(operand)];
      if (operands[static_cast<size_t>(operand)].getType() != type) printer << " as " << type;
    }
    if (with_dims) print_dims(printer, type, result_dims);
  });
  if (result_types.size() != 1) printer << ")";
}

}  // namespace

size_t dynamic_dim_count(Type type) {
  if (is_resource(type)) return 1;
  const auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() ? static_cast<size_t>(shaped.getNumDynamicDims()) : 0;
}

ParseResult parseShapedFunctionType(OpAsmParser& parser, UnresolvedRef operands, TypeList& operand_types,
                                    UnresolvedList& operand_dims, TypeList& result_types, UnresolvedList& result_dims,
                                    ArrayAttr& tied) {
  return parse_shaped_function(parser, operands, operand_types, &operand_dims, result_types, &result_dims, tied);
}

void printShapedFunctionType(OpAsmPrinter& printer, Operation*, OperandRange operands, TypeRange operand_types,
                             OperandRange operand_dims, TypeRange result_types, OperandRange result_dims,
                             ArrayAttr tied) {
  print_shaped_function(printer, operands, operand_types, operand_dims, result_types, result_dims, true, tied);
}

ParseResult parseTiedFunctionType(OpAsmParser& parser, UnresolvedRef operands, TypeList& operand_types,
                                  TypeList& result_types, ArrayAttr& tied) {
  return parse_shaped_function(parser, operands, operand_types, nullptr, result_types, nullptr, tied);
}

void printTiedFunctionType(OpAsmPrinter& printer, Operation*, OperandRange operands, TypeRange operand_types,
                           TypeRange result_types, ArrayAttr tied) {
  print_shaped_function(printer, operands, operand_types, {}, result_types, {}, false, tied);
}

ParseResult parseShapedResults(OpAsmParser& parser, TypeList& types, UnresolvedList& dims) {
  if (failed(parser.parseOptionalArrow())) return success();
  Results results{types, &dims, {}};
  return parse_results(parser, {}, {}, results);
}

void printShapedResults(OpAsmPrinter& printer, Operation*, TypeRange types, OperandRange dims) {
  if (types.empty()) return;
  ValueRange rest = dims;
  printer << " -> (";
  llvm::interleaveComma(types, printer, [&](Type type) {
    printer << type;
    print_dims(printer, type, rest);
  });
  printer << ")";
}

ParseResult parseShapedType(OpAsmParser& parser, Type& type, UnresolvedList& dims) {
  return failure(parser.parseType(type) || parse_dims(parser, type, dims));
}

void printShapedType(OpAsmPrinter& printer, Operation*, Type type, ValueRange dims) {
  printer << type;
  print_dims(printer, type, dims);
}

ParseResult parseDimension(OpAsmParser& parser, IntegerAttr& dimension) {
  int64_t value = 0;
  const SMLoc where = parser.getCurrentLocation();
  if (parser.parseLSquare() || parser.parseInteger(value) || parser.parseRSquare()) return failure();
  if (value < 0) return parser.emitError(where) << "dimension " << value << " is negative";
  dimension = parser.getBuilder().getIndexAttr(value);
  return success();
}

void printDimension(OpAsmPrinter& printer, Operation*, IntegerAttr dimension) {
  printer << "[" << dimension.getInt() << "]";
}

ParseResult parseVisibility(OpAsmParser& parser, StringAttr& visibility) {
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word, {"public", "private", "nested"})) || word == "public") return success();
  visibility = parser.getBuilder().getStringAttr(word);
  return success();
}

void printVisibility(OpAsmPrinter& printer, Operation*, StringAttr visibility) {
  printer << (visibility ? visibility.getValue() : "public");
}

ParseResult parseContainer(OpAsmParser& parser, Region& body) {
  if (parser.parseRegion(body)) return failure();
  if (body.empty()) body.emplaceBlock();
  return success();
}

void printContainer(OpAsmPrinter& printer, Operation*, Region& body) {
  printer.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

ParseResult parse_region_function(OpAsmParser& parser, Region& body, TypeList& result_types) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseArrowTypeList(result_types)) {
    return failure();
  }
  return parser.parseRegion(body, arguments);
}

void print_region_function(OpAsmPrinter& printer, Region& body, TypeRange result_types) {
  printer << "(";
  llvm::interleaveComma(body.getArguments(), printer,
                        [&](BlockArgument argument) { printer << argument << ": " << argument.getType(); });
  printer << ") -> ";
  if (result_types.size() != 1) printer << "(";
  llvm::interleaveComma(result_types, printer);
  if (result_types.size() != 1) printer << ")";
  printer << " ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

ParseResult parseWorkgroupCount(OpAsmParser& parser, Region& body) {
  SmallVector<Type> types;
  const SMLoc where = parser.getCurrentLocation();
  if (parse_region_function(parser, body, types)) return failure();
  if (types.size() == 3 && llvm::all_of(types, [](Type type) { return type.isIndex(); })) return success();
  return parser.emitError(where, "a workgroup count is (index, index, index)");
}

void printWorkgroupCount(OpAsmPrinter& printer, Operation*, Region& body) {
  const Type index = IndexType::get(body.getContext());
  print_region_function(printer, body, {index, index, index});
}

ParseResult parseOptionalCount(OpAsmParser& parser, Region& body) {
  return succeeded(parser.parseOptionalKeyword("count")) ? parseWorkgroupCount(parser, body) : ParseResult(success());
}

void printOptionalCount(OpAsmPrinter& printer, Operation* op, Region& body) {
  if (body.empty()) return;
  printer << " count";
  printWorkgroupCount(printer, op, body);
}

namespace {

struct Signature {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Unresolved> names;  // Of the arguments that have one.
  SmallVector<Type> argument_types, result_types;
  SmallVector<DictionaryAttr> argument_attributes, result_attributes;
  SmallVector<int64_t> tied;
};

ParseResult parse_argument(OpAsmParser& parser, Signature& signature) {
  OpAsmParser::Argument argument;
  NamedAttrList attributes;
  const OptionalParseResult named = parser.parseOptionalArgument(argument, /*allowType=*/false, /*allowAttrs=*/false);
  if (named.has_value() && (failed(*named) || parser.parseColon())) return failure();
  if (parser.parseType(argument.type) || parser.parseOptionalAttrDict(attributes) ||
      parser.parseOptionalLocationSpecifier(argument.sourceLoc)) {
    return failure();
  }
  argument.attrs = attributes.getDictionary(parser.getContext());
  signature.names.push_back(argument.ssaName);
  signature.argument_types.push_back(argument.type);
  signature.argument_attributes.push_back(argument.attrs);
  signature.arguments.push_back(argument);
  return success();
}

ParseResult parse_signature_results(OpAsmParser& parser, Signature& signature) {
  if (failed(parser.parseOptionalArrow())) return success();
  Results results{signature.result_types, nullptr, {}};
  const auto one = [&](bool with_attributes) -> ParseResult {
    NamedAttrList attributes;
    if (parse_result(parser, signature.names, signature.argument_types, results)) return failure();
    if (with_attributes && parser.parseOptionalAttrDict(attributes)) return failure();
    signature.result_attributes.push_back(attributes.getDictionary(parser.getContext()));
    return success();
  };
  if (failed(parser.parseOptionalLParen())) {
    if (one(false)) return failure();
  } else if (failed(parser.parseOptionalRParen())) {
    if (parser.parseCommaSeparatedList([&] { return one(true); }) || parser.parseRParen()) return failure();
  }
  signature.tied = std::move(results.tied);
  return success();
}

bool any_attributes(ArrayRef<DictionaryAttr> attributes) {
  return llvm::any_of(attributes, [](DictionaryAttr each) { return each && !each.empty(); });
}

ArrayAttr array_of(Builder builder, ArrayRef<DictionaryAttr> attributes) {
  SmallVector<Attribute> all(attributes.begin(), attributes.end());
  return builder.getArrayAttr(all);
}

}  // namespace

ParseResult parse_function(OpAsmParser& parser, OperationState& state, const SignatureNames& names) {
  Builder& builder = parser.getBuilder();
  StringAttr visibility, name;
  Signature signature;
  if (parseVisibility(parser, visibility)) return failure();
  if (visibility) state.addAttribute(names.visibility, visibility);
  if (parser.parseSymbolName(name, names.name, state.attributes)) return failure();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     [&] { return parse_argument(parser, signature); }) ||
      parse_signature_results(parser, signature) || parser.parseOptionalAttrDictWithKeyword(state.attributes)) {
    return failure();
  }
  state.addAttribute(names.type,
                     TypeAttr::get(builder.getFunctionType(signature.argument_types, signature.result_types)));
  if (ArrayAttr tied = tied_attribute(builder, signature.tied)) state.addAttribute(names.tied, tied);
  if (any_attributes(signature.argument_attributes)) {
    state.addAttribute(names.argument_attributes, array_of(builder, signature.argument_attributes));
  }
  if (any_attributes(signature.result_attributes)) {
    state.addAttribute(names.result_attributes, array_of(builder, signature.result_attributes));
  }
  Region* body = state.addRegion();
  const SMLoc where = parser.getCurrentLocation();
  // Only a body gives names a meaning; tied results of a declaration have used theirs above.
  const OptionalParseResult parsed = parser.parseOptionalRegion(*body, signature.arguments);
  if (!parsed.has_value()) return success();
  if (failed(*parsed)) return failure();
  if (body->empty()) return parser.emitError(where, "the function's body is empty");
  return success();
}

void print_function(OpAsmPrinter& printer, Operation* op, const SignatureNames& names) {
  const auto type = cast<FunctionType>(op->getAttrOfType<TypeAttr>(names.type).getValue());
  const auto argument_attributes = op->getAttrOfType<ArrayAttr>(names.argument_attributes);
  const auto result_attributes = op->getAttrOfType<ArrayAttr>(names.result_attributes);
  const auto tied = op->getAttrOfType<ArrayAttr>(names.tied);
  Region& body = op->getRegion(0);
  const auto print_argument = [&](unsigned i) {
    if (body.empty())
      printer << "%arg" << i;
    else
      printer << body.getArgument(i);
  };
  printer << " ";
  printVisibility(printer, op, op->getAttrOfType<StringAttr>(names.visibility));
  printer << " ";
  printer.printSymbolName(op->getAttrOfType<StringAttr>(names.name));
  printer << "(";
  for (unsigned i = 0; i < type.getNumInputs(); ++i) {
    if (i != 0) printer << ", ";
    print_argument(i);
    printer << ": " << type.getInput(i);
    if (argument_attributes) printer.printOptionalAttrDict(cast<DictionaryAttr>(argument_attributes[i]).getValue());
  }
  printer << ")";
  if (type.getNumResults() != 0) {
    const bool parentheses = type.getNumResults() != 1 || result_attributes;
    printer << (parentheses ? " -> (" : " -> ");
    for (unsigned i = 0; i < type.getNumResults(); ++i) {
      if (i != 0) printer << ", ";
      const int64_t operand = tied_operand(tied, i);
      if (operand < 0) {
        printer << type.getResult(i);
      } else {
        print_argument(static_cast<unsigned>(operand));
        if (type.getInput(static_cast<unsigned>(operand)) != type.getResult(i)) printer << " as " << type.getResult(i);
      }
      if (result_attributes) printer.printOptionalAttrDict(cast<DictionaryAttr>(result_attributes[i]).getValue());
    }
    if (parentheses) printer << ")";
  }
  printer.printOptionalAttrDictWithKeyword(
      op->getAttrs(),
      {names.name, names.type, names.visibility, names.argument_attributes, names.result_attributes, names.tied});
  if (body.empty()) return;
  printer << " ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

}  // namespace baton::compiler_lite
