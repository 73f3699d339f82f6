// What the dialects' tables share.
#ifndef BATON_COMPILER_LITE_DIALECTS_BASE
#define BATON_COMPILER_LITE_DIALECTS_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An attribute of one of our classes that prints in full, `#hal.pipeline.layout<...>` or its alias, where the format
// generator would strip it to `<...>`.
class FullAttr<string class_name, string what> : Attr<CPred<"::llvm::isa<" # class_name # ">($_self)">, what> {
  let returnType = class_name;
  let convertFromStorage = "::llvm::cast_if_present<" # class_name # ">($_self)";
}

// Operand numbers that results share storage with, -1 for none; absent when no result is tied.
defvar TiedOperands = OptionalAttr<I64ArrayAttr>;

// A region of one block that holds declarations: exports, variants, an inner module.
class ContainerTraits<list<Trait> more = []> {
  list<Trait> traits = !listconcat([IsolatedFromAbove, SymbolTable, SingleBlock, NoTerminator, NoRegionArguments], more);
}

#endif
