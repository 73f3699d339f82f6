#include "compiler-lite/dialects/flow/dialect.hpp"

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/shaped_types.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"

using namespace mlir;                  // NOLINT: the generated code speaks MLIR.
using namespace baton::compiler_lite;  // NOLINT: the shared pieces of syntax.

#include "compiler-lite/dialects/flow/flow.dialect.cpp.inc"

namespace baton::compiler_lite::flow {

void FlowDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/flow/flow.ops.cpp.inc"
      >();
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

}  // namespace baton::compiler_lite::flow

#define GET_OP_CLASSES
#include "compiler-lite/dialects/flow/flow.ops.cpp.inc"
