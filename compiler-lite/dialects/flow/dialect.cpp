#include "compiler-lite/dialects/flow/dialect.hpp"

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/shaped_types.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;                  // NOLINT: the generated code speaks MLIR.
using namespace baton::compiler_lite;  // NOLINT: the shared pieces of syntax.

#include "compiler-lite/dialects/flow/flow.dialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/flow/flow.types.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler-lite/dialects/flow/flow.attributes.cpp.inc"

namespace baton::compiler_lite::flow {

void FlowDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler-lite/dialects/flow/flow.types.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler-lite/dialects/flow/flow.attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/flow/flow.ops.cpp.inc"
      >();
}

Attribute NamedParameterAttr::parse(AsmParser& parser, Type type) {
  std::string scope, key;
  StringAttr scope_name;
  DictionaryAttr configuration;
  if (parser.parseLess() || parser.parseString(&key)) return {};
  if (succeeded(parser.parseOptionalColon())) {
    scope.swap(key);
    if (parser.parseColon() || parser.parseString(&key)) return {};
    scope_name = parser.getBuilder().getStringAttr(scope);
  }
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(configuration)) return {};
  if (parser.parseGreater()) return {};
  if (!type) type = NoneType::get(parser.getContext());
  return get(parser.getContext(), type, scope_name, parser.getBuilder().getStringAttr(key), configuration);
}

void NamedParameterAttr::print(AsmPrinter& printer) const {
  printer << "<";
  if (getScope()) printer << getScope() << "::";
  printer << getKey();
  if (getConfiguration()) printer << ", " << getConfiguration();
  printer << ">";
}

namespace {

SignatureNames names_of(OperationName name) {
  return {FuncOp::getSymNameAttrName(name),       FuncOp::getFunctionTypeAttrName(name),
          FuncOp::getSymVisibilityAttrName(name), FuncOp::getArgAttrsAttrName(name),
          FuncOp::getResAttrsAttrName(name),      FuncOp::getTiedOperandsAttrName(name)};
}

// `@executable::@export`, or several in braces.
ParseResult parseEntryPoints(OpAsmParser& parser, ArrayAttr& entry_points) {
  SmallVector<Attribute> all;
  const auto one = [&]() -> ParseResult {
    SymbolRefAttr symbol;
    if (parser.parseAttribute(symbol)) return failure();
    all.push_back(symbol);
    return success();
  };
  if (succeeded(parser.parseOptionalLBrace())) {
    if (parser.parseCommaSeparatedList(one) || parser.parseRBrace()) return failure();
  } else if (one()) {
    return failure();
  }
  entry_points = parser.getBuilder().getArrayAttr(all);
  return success();
}

void printEntryPoints(OpAsmPrinter& printer, Operation*, ArrayAttr entry_points) {
  if (entry_points.size() != 1) printer << "{";
  llvm::interleaveComma(entry_points, printer);
  if (entry_points.size() != 1) printer << "}";
}

// `sum`, `f32`: words of the language, strings in attributes.
ParseResult parseWord(OpAsmParser& parser, StringAttr& word) {
  StringRef text;
  if (parser.parseKeyword(&text)) return failure();
  word = parser.getBuilder().getStringAttr(text);
  return success();
}

void printWord(OpAsmPrinter& printer, Operation*, StringAttr word) { printer << word.getValue(); }

// `(tensor<?xf32>, tensor<?xf32>, !flow.channel) -> %target as tensor<?xf32>{%n}`: the result is the target, written.
ParseResult parseCollectiveType(OpAsmParser& parser, UnresolvedRef operands, TypeList& types, Type& result,
                                UnresolvedList& dims) {
  const SMLoc where = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     [&] { return parser.parseType(types.emplace_back()); })) {
    return failure();
  }
  if (types.size() != operands.size()) {
    return parser.emitError(where) << operands.size() << " operands have " << types.size() << " types";
  }
  if (parser.parseArrow()) return failure();
  Unresolved target;
  const SMLoc result_place = parser.getCurrentLocation();
  const OptionalParseResult named = parser.parseOptionalOperand(target);
  if (!named.has_value()) return parseShapedType(parser, result, dims);
  if (failed(*named)) return failure();
  if (operands.empty() || operands.front().name != target.name || operands.front().number != target.number) {
    return parser.emitError(result_place, "a collective's result is its target, the first operand");
  }
  if (succeeded(parser.parseOptionalKeyword("as"))) return parseShapedType(parser, result, dims);
  return parser.emitError(parser.getCurrentLocation(), "expected 'as' and the result's type");
}

void printCollectiveType(OpAsmPrinter& printer, Operation* op, OperandRange operands, TypeRange types, Type result,
                         OperandRange dims) {
  printer << "(";
  llvm::interleaveComma(types, printer);
  printer << ") -> " << operands.front() << " as ";
  printShapedType(printer, op, result, dims);
}

// `%target as tensor<?xf32>{%n}`: the result is the target, written; `as` may be left out.
ParseResult parseShapedTarget(OpAsmParser& parser, const Unresolved& target, Type& result, UnresolvedList& dims) {
  Unresolved named;
  const SMLoc where = parser.getCurrentLocation();
  const OptionalParseResult is_named = parser.parseOptionalOperand(named);
  if (!is_named.has_value()) return parseShapedType(parser, result, dims);
  if (failed(*is_named)) return failure();
  if (named.name != target.name || named.number != target.number) {
    return parser.emitError(where, "the result is the target");
  }
  return failure(parser.parseKeyword("as") || parseShapedType(parser, result, dims));
}

void printShapedTarget(OpAsmPrinter& printer, Operation* op, Value target, Type result, OperandRange dims) {
  printer << target << " as ";
  printShapedType(printer, op, result, dims);
}

LogicalResult verify_sizes(Operation* op, RankedTensorType type, ValueRange sizes) {
  if (static_cast<size_t>(type.getNumDynamicDims()) == sizes.size()) return success();
  return op->emitOpError() << type << " has " << type.getNumDynamicDims() << " dynamic dimensions, and " << sizes.size()
                           << " values are given";
}

LogicalResult verify_place(Operation* op, RankedTensorType type, ValueRange indices) {
  if (static_cast<size_t>(type.getRank()) == indices.size()) return success();
  return op->emitOpError() << type << " has " << type.getRank() << " dimensions, and " << indices.size()
                           << " values are given";
}

LogicalResult verify_part(Operation* op, RankedTensorType part, RankedTensorType whole, ValueRange sizes) {
  if (part.getRank() != whole.getRank() || part.getElementType() != whole.getElementType()) {
    return op->emitOpError() << part << " is no part of " << whole;
  }
  return verify_sizes(op, part, sizes);
}

// `numbers`: how many indices follow the channel.
LogicalResult verify_collective(Operation* op, OperandRange arguments, Type result, size_t numbers) {
  constexpr size_t kTensors = 2, kChannel = 2;
  const auto tensor = [&](size_t i) { return dyn_cast<RankedTensorType>(arguments[i].getType()); };
  if (arguments.size() != kChannel + 1 + numbers) {
    return op->emitOpError("takes ") << kChannel + 1 + numbers << " operands, and " << arguments.size() << " are given";
  }
  for (size_t i = 0; i < kTensors; ++i) {
    if (!tensor(i)) return op->emitOpError("takes a target and a source that are tensors with a rank");
  }
  if (!isa<ChannelType>(arguments[kChannel].getType())) {
    return op->emitOpError("takes a !flow.channel behind its tensors");
  }
  for (const Value each : arguments.drop_front(kChannel + 1)) {
    if (!each.getType().isIndex()) return op->emitOpError("takes ranks of the type index");
  }
  if (tensor(0) != result) return op->emitOpError("has a target that is a ") << tensor(0) << " for a " << result;
  if (tensor(0).getElementType() == tensor(1).getElementType()) return success();
  return op->emitOpError("has a source of ")
         << tensor(1).getElementType() << " and a target of " << tensor(0).getElementType();
}

// The export that a dispatch names, or null: specs dispatch to symbols that arrive later.
Operation* find_export(Operation* from, SymbolRefAttr symbol) {
  Operation* found = SymbolTable::lookupNearestSymbolFrom(from, symbol);
  return isa_and_nonnull<hal::ExecutableExportOp, stream::ExecutableExportOp>(found) ? found : nullptr;
}

}  // namespace

ParseResult FuncOp::parse(OpAsmParser& parser, OperationState& state) {
  return parse_function(parser, state, names_of(state.name));
}
void FuncOp::print(OpAsmPrinter& printer) { print_function(printer, *this, names_of((*this)->getName())); }

LogicalResult DispatchOp::verify() {
  for (const Attribute each : getEntryPoints()) {
    Operation* found = find_export(*this, cast<SymbolRefAttr>(each));
    if (!found) continue;
    Region& count = isa<stream::ExecutableExportOp>(found) ? cast<stream::ExecutableExportOp>(found).getWorkgroupCount()
                                                           : cast<hal::ExecutableExportOp>(found).getWorkgroupCount();
    if (count.empty()) continue;
    const size_t wanted =
        static_cast<size_t>(llvm::count_if(count.getArgumentTypes(), [](Type type) { return isa<IndexType>(type); }));
    if (wanted == getWorkload().size()) continue;
    return (emitOpError() << "gives " << getWorkload().size() << " workload values, and " << each << " takes "
                          << wanted)
               .attachNote(found->getLoc())
           << "the export stands here";
  }
  if (!getTiedOperands()) return success();
  const ArrayAttr ties = getTiedOperandsAttr();
  for (const Attribute tied : ties) {
    const int64_t operand = cast<IntegerAttr>(tied).getInt();
    if (operand < 0 || isa<RankedTensorType>(getArguments()[static_cast<size_t>(operand)].getType())) continue;
    return emitOpError() << "ties a result to operand " << operand << ", which is a "
                         << getArguments()[static_cast<size_t>(operand)].getType() << " and not a tensor";
  }
  return success();
}

LogicalResult TensorLoadOp::verify() { return verify_place(*this, getSource().getType(), getIndices()); }
LogicalResult TensorStoreOp::verify() { return verify_place(*this, getTarget().getType(), getIndices()); }
LogicalResult TensorSplatOp::verify() { return verify_sizes(*this, getResult().getType(), getResultDims()); }
LogicalResult TensorEmptyOp::verify() { return verify_sizes(*this, getResult().getType(), getResultDims()); }
LogicalResult TensorAllocaOp::verify() { return verify_sizes(*this, getResult().getType(), getResultDims()); }
LogicalResult TensorSliceOp::verify() {
  if (failed(verify_place(*this, getSource().getType(), getStartIndices())) ||
      failed(verify_place(*this, getSource().getType(), getLengths()))) {
    return failure();
  }
  return verify_part(*this, getResult().getType(), getSource().getType(), getResultDims());
}
LogicalResult TensorUpdateOp::verify() {
  if (failed(verify_place(*this, getTarget().getType(), getStartIndices()))) return failure();
  return verify_part(*this, getUpdate().getType(), getTarget().getType(), getUpdateDims());
}

LogicalResult CollectiveAllReduceOp::verify() {
  if (failed(verify_collective(*this, getArguments(), getType(), 0))) return failure();
  if (getArguments()[1].getType() == getType()) return success();
  return emitOpError("has a source that is a ")
         << getArguments()[1].getType() << " and a target that is a " << getType();
}
LogicalResult CollectiveReduceScatterOp::verify() { return verify_collective(*this, getArguments(), getType(), 0); }
LogicalResult CollectiveAllGatherOp::verify() { return verify_collective(*this, getArguments(), getType(), 0); }
LogicalResult CollectiveAllToAllOp::verify() { return verify_collective(*this, getArguments(), getType(), 0); }
LogicalResult CollectiveSendRecvOp::verify() { return verify_collective(*this, getArguments(), getType(), 2); }

}  // namespace baton::compiler_lite::flow

#define GET_OP_CLASSES
#include "compiler-lite/dialects/flow/flow.ops.cpp.inc"
