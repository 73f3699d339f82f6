// Operations that transform specs use beside MLIR's: matchers of whole expressions, and replacement by a call.
#ifndef BATON_COMPILER_LITE_SPECS_TRANSFORM_OPS
#define BATON_COMPILER_LITE_SPECS_TRANSFORM_OPS

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Spec_Matcher<string name, list<Trait> traits> : Op<Transform_Dialect, "iree.match." # name, !listconcat([
    MatchOpInterface, MemoryEffectsOpInterface], traits)> {
  let cppNamespace = "::baton::compiler_lite::specs";
}
class Spec_Transform<string name, list<Trait> traits = []> : Op<Transform_Dialect, "util." # name, !listconcat([
    DeclareOpInterfaceMethods<TransformOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let cppNamespace = "::baton::compiler_lite::specs";
}

def Spec_MatchDagOp : Spec_Matcher<"cast_compatible_dag_from_root",
    !listconcat([SingleOpMatcher], GraphRegionNoTerminator.traits)> {
  let summary = "the expression that ends in the operation, up to casts of tensor shapes";
  let arguments = (ins TransformHandleTypeInterface:$operand_handle);
  let results = (outs TransformValueHandleTypeInterface:$inputs, TransformValueHandleTypeInterface:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$operand_handle attr-dict-with-keyword $body `:` functional-type(operands, results)";
  let extraClassDeclaration = SingleOpMatcher.extraDeclaration;
  let hasVerifier = 1;
}

def Spec_MatchTypeOp : Spec_Matcher<"cast_compatible_type", [SingleValueMatcher]> {
  let summary = "a value whose type casts to the one given";
  let arguments = (ins TransformValueHandleTypeInterface:$operand_handle, TypeAttr:$target_type);
  let assemblyFormat = "$operand_handle `=` $target_type attr-dict `:` type($operand_handle)";
  let extraClassDeclaration = SingleValueMatcher.extraDeclaration;
}

def Spec_MatchDimMultipleOp : Spec_Matcher<"dim_is_multiple_of", [SingleValueMatcher]> {
  let summary = "a value with a dimension that is provably a multiple of a number";
  let arguments = (ins TransformValueHandleTypeInterface:$operand_handle, I64Attr:$dim, I64Attr:$size);
  let assemblyFormat = "$operand_handle `[` $dim `]` `,` $size attr-dict `:` type($operand_handle)";
  let extraClassDeclaration = SingleValueMatcher.extraDeclaration;
  let hasVerifier = 1;
}

def Spec_MatchRegionsOp : Spec_Matcher<"regions", !listconcat([SingleOpMatcher], GraphRegionNoTerminator.traits)> {
  let summary = "an operation whose regions are those of the one operation given";
  let arguments = (ins TransformHandleTypeInterface:$operand_handle);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$operand_handle attr-dict `:` type($operand_handle) $body";
  let extraClassDeclaration = SingleOpMatcher.extraDeclaration;
  let hasVerifier = 1;
}

def Spec_GetNearestSymbolTableOp : Spec_Transform<"get_nearest_symbol_table"> {
  let summary = "the symbol tables that the operations stand in";
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$symbol_table);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
}

def Spec_ImportSymbolOp : Spec_Transform<"import_symbol"> {
  let summary = "copies a symbol of the spec to the start of a symbol table of the program";
  let arguments = (ins UnitAttr:$force_import, SymbolRefAttr:$symbol, TransformHandleTypeInterface:$symbol_table,
                   UnitAttr:$if_undefined);
  let results = (outs TransformHandleTypeInterface:$imported);
  let assemblyFormat = [{
    (`force` $force_import^)? $symbol `into` $symbol_table (`if` `undefined` $if_undefined^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Spec_CastAndCallOp : Spec_Transform<"cast_and_call",
    !listconcat([AttrSizedOperandSegments], GraphRegionNoTerminator.traits)> {
  let summary = "replaces values by what a function makes of other values";
  let arguments = (ins TransformHandleTypeInterface:$insertion_point, UnitAttr:$insert_after, UnitAttr:$inline_call,
                   Optional<TransformValueHandleTypeInterface>:$inputs,
                   Optional<TransformValueHandleTypeInterface>:$outputs,
                   OptionalAttr<SymbolRefAttr>:$function_name, Optional<TransformHandleTypeInterface>:$function);
  let results = (outs TransformHandleTypeInterface:$call);
  let regions = (region MaxSizedRegion<1>:$conversions);
  let assemblyFormat = [{
    (`inline_call` $inline_call^)? ($function_name^)? ($function^)? (`(` $inputs^ `)`)? (`->` $outputs^)?
    (`after` $insert_after^) : (`before`)? $insertion_point ($conversions^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
