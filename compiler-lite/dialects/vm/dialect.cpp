#include "compiler-lite/dialects/vm/dialect.hpp"

#include "compiler-lite/dialects/shaped_types.hpp"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;                  // NOLINT: the generated code speaks MLIR.
using namespace baton::compiler_lite;  // NOLINT: the shared pieces of syntax.

#include "compiler-lite/dialects/vm/vm.dialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/vm/vm.types.cpp.inc"

namespace baton::compiler_lite::vm {

void VMDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler-lite/dialects/vm/vm.types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/vm/vm.ops.cpp.inc"
      >();
}

namespace {

// `<!custom.string>` or `<?>`, which is any type and stands as `none`.
Type parse_held(AsmParser& parser) {
  Type held;
  if (parser.parseLess()) return {};
  if (succeeded(parser.parseOptionalQuestion()))
    held = NoneType::get(parser.getContext());
  else if (parser.parseType(held))
    return {};
  return parser.parseGreater() ? Type() : held;
}

void print_held(AsmPrinter& printer, Type held) {
  printer << "<";
  if (isa<NoneType>(held))
    printer << "?";
  else
    printer << held;
  printer << ">";
}

}  // namespace

Type RefType::parse(AsmParser& parser) {
  const Type held = parse_held(parser);
  return held ? get(parser.getContext(), held) : Type();
}
void RefType::print(AsmPrinter& printer) const { print_held(printer, getObject()); }

Type ListType::parse(AsmParser& parser) {
  const Type held = parse_held(parser);
  return held ? get(parser.getContext(), held) : Type();
}
void ListType::print(AsmPrinter& printer) const { print_held(printer, getElement()); }

// `private optional @acme.maybe(%object : !vm.ref<!acme.object>, i32 ...) -> i32 attributes {...}`
ParseResult ImportOp::parse(OpAsmParser& parser, OperationState& state) {
  StringAttr visibility, name;
  SmallVector<Type> arguments, results;
  SmallVector<bool> variadic;
  if (parseVisibility(parser, visibility)) return failure();
  if (visibility) state.addAttribute(getSymVisibilityAttrName(state.name), visibility);
  if (succeeded(parser.parseOptionalKeyword("optional"))) {
    state.addAttribute(getIsOptionalAttrName(state.name), parser.getBuilder().getUnitAttr());
  }
  if (parser.parseSymbolName(name, getSymNameAttrName(state.name), state.attributes)) return failure();
  const auto argument = [&]() -> ParseResult {
    Unresolved unused;
    const OptionalParseResult named = parser.parseOptionalOperand(unused, /*allowResultNumber=*/false);
    if (named.has_value() && (failed(*named) || parser.parseColon())) return failure();
    if (parser.parseType(arguments.emplace_back())) return failure();
    variadic.push_back(succeeded(parser.parseOptionalEllipsis()));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, argument) ||
      parser.parseOptionalArrowTypeList(results) || parser.parseOptionalAttrDictWithKeyword(state.attributes)) {
    return failure();
  }
  Builder& builder = parser.getBuilder();
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(builder.getFunctionType(arguments, results)));
  if (llvm::is_contained(variadic, true)) {
    state.addAttribute(getVariadicAttrName(state.name), builder.getDenseBoolArrayAttr(variadic));
  }
  return success();
}

void ImportOp::print(OpAsmPrinter& printer) {
  printer << " ";
  printVisibility(printer, *this, getSymVisibilityAttr());
  printer << (getIsOptional() ? " optional " : " ");
  printer.printSymbolName(getSymName());
  printer << "(";
  for (unsigned i = 0; i < getFunctionType().getNumInputs(); ++i) {
    if (i != 0) printer << ", ";
    printer << "%arg" << i << " : " << getFunctionType().getInput(i);
    if (getVariadic() && (*getVariadic())[i]) printer << " ...";
  }
  printer << ")";
  printer.printOptionalArrowTypeList(getFunctionType().getResults());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getSymNameAttrName(), getSymVisibilityAttrName(), getIsOptionalAttrName(),
                                            getFunctionTypeAttrName(), getVariadicAttrName()});
}

}  // namespace baton::compiler_lite::vm

#define GET_OP_CLASSES
#include "compiler-lite/dialects/vm/vm.ops.cpp.inc"
