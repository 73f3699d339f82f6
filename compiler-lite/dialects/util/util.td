// The dialect `util`: functions, calls, globals and host bytes.
#ifndef BATON_COMPILER_LITE_DIALECTS_UTIL
#define BATON_COMPILER_LITE_DIALECTS_UTIL

include "compiler-lite/dialects/base.td"

def Util_Dialect : Dialect {
  let name = "util";
  let cppNamespace = "::baton::compiler_lite::util";
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

class Util_Op<string mnemonic, list<Trait> traits = []> : Op<Util_Dialect, mnemonic, traits>;
class Util_Type<string name, string type_mnemonic> : TypeDef<Util_Dialect, name> {
  let mnemonic = type_mnemonic;
}

def Util_BufferType : Util_Type<"Buffer", "buffer"> { let summary = "host bytes"; }
def Util_ObjectType : Util_Type<"Object", "object"> { let summary = "a reference of any type"; }
def Util_VariantType : Util_Type<"Variant", "variant"> { let summary = "a value of any type, as lists hold it"; }
def Util_ListType : Util_Type<"List", "list"> {
  let summary = "a growable list; `?` holds anything";
  let parameters = (ins "::mlir::Type":$element);
  let hasCustomAssemblyFormat = 1;
}

def Util_FuncOp : Util_Op<"func", [AffineScope, AutomaticAllocationScope, FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "a function; without a body, an import";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                   OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                   OptionalAttr<DictArrayAttr>:$res_attrs, TiedOperands:$tied_operands);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::mlir::Region* getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
  let hasCustomAssemblyFormat = 1;
}

def Util_CallOp : Util_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a call";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands, TiedOperands:$tied_operands);
  let results = (outs Variadic<AnyType>:$results);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$callee, "::mlir::TypeRange":$results, "::mlir::ValueRange":$operands)>];
  let assemblyFormat = [{
    $callee `(` $operands `)` attr-dict `:`
    custom<TiedFunctionType>(ref($operands), type($operands), type($results), $tied_operands)
  }];
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() { return getCalleeAttr(); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(::llvm::cast<::mlir::SymbolRefAttr>(callee)));
    }
    ::mlir::Operation::operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
  }];
}

def Util_ReturnOp : Util_Op<"return", [Pure, ReturnLike, Terminator]> {
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{}]>];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

def Util_InitializerOp : Util_Op<"initializer", [IsolatedFromAbove]> {
  let summary = "runs once when a context is made, in the order of the file";
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Util_GlobalOp : Util_Op<"global", [Symbol]> {
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, UnitAttr:$is_mutable,
                   TypeAttr:$type, OptionalAttr<AnyAttr>:$initial_value);
  let assemblyFormat = [{
    custom<Visibility>($sym_visibility) (`mutable` $is_mutable^)? $sym_name attr-dict
    custom<GlobalValue>($type, $initial_value)
  }];
}

def Util_GlobalLoadOp : Util_Op<"global.load", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                                MemoryEffects<[MemRead]>]> {
  let arguments = (ins UnitAttr:$is_immutable, FlatSymbolRefAttr:$global);
  let results = (outs AnyType:$result);
  let assemblyFormat = "(`immutable` $is_immutable^)? $global attr-dict `:` type($result)";
}

def Util_GlobalStoreOp : Util_Op<"global.store", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins AnyType:$value, FlatSymbolRefAttr:$global);
  let assemblyFormat = "$value `,` $global attr-dict `:` type($value)";
}

def Util_BufferConstantOp : Util_Op<"buffer.constant", [Pure]> {
  let summary = "read-only bytes: a string, or packed little-endian elements";
  let arguments = (ins OptionalAttr<StrAttr>:$name, AnyAttr:$value, OptionalAttr<IndexAttr>:$alignment,
                   OptionalAttr<StrAttr>:$mime_type);
  let results = (outs Util_BufferType:$result);
  let assemblyFormat = "($name^)? attr-dict `:` type($result) `=` $value";
  let hasVerifier = 1;
}

// Lists ------------------------------------------------------------------------------------------------------------

// By its class, so that the type is printed in full.
def Util_AnyList : Type<CPred<"::llvm::isa<::baton::compiler_lite::util::ListType>($_self)">, "list">;

def Util_ListCreateOp : Util_Op<"list.create"> {
  let summary = "an empty list with room for elements";
  let arguments = (ins Optional<Index>:$initial_capacity);
  let results = (outs Util_AnyList:$result);
  let assemblyFormat = "($initial_capacity^)? attr-dict `:` type($result)";
}

def Util_ListSizeOp : Util_Op<"list.size"> {
  let arguments = (ins Util_AnyList:$list);
  let results = (outs Index:$result);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

def Util_ListResizeOp : Util_Op<"list.resize"> {
  let summary = "grows with zeros, or shrinks";
  let arguments = (ins Util_AnyList:$list, Index:$new_size);
  let assemblyFormat = "$list `,` $new_size attr-dict `:` type($list)";
}

def Util_ListGetOp : Util_Op<"list.get"> {
  let summary = "an element; traps when there is none, or one of another type";
  let arguments = (ins Util_AnyList:$list, Index:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$list `[` $index `]` attr-dict `:` custom<ListElement>(type($list), type($result))";
}

def Util_ListSetOp : Util_Op<"list.set"> {
  let arguments = (ins Util_AnyList:$list, Index:$index, AnyType:$value);
  let assemblyFormat = [{
    $list `[` $index `]` `,` $value attr-dict `:` custom<ListValue>(type($list), type($value))
  }];
}

// Host bytes; a buffer's size stands in braces behind its type ---------------------------------------------------

def Util_BufferAllocOp : Util_Op<"buffer.alloc"> {
  let summary = "zeroed bytes of its own";
  let arguments = (ins Index:$storage_size, UnitAttr:$uninitialized);
  let results = (outs Util_BufferType:$result);
  let assemblyFormat = "(`uninitialized` $uninitialized^)? attr-dict `:` type($result) `` `{` $storage_size `}`";
}

def Util_BufferSizeOp : Util_Op<"buffer.size"> {
  let arguments = (ins Util_BufferType:$operand);
  let results = (outs Index:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Util_BufferSliceOp : Util_Op<"buffer.slice"> {
  let summary = "a copy of a range";
  let arguments = (ins Util_BufferType:$source, Index:$source_offset, Index:$source_size, Index:$result_size);
  let results = (outs Util_BufferType:$result);
  let assemblyFormat = [{
    $source `[` $source_offset `]` attr-dict `:` type($source) `` `{` $source_size `}` `->` type($result) `` `{`
    $result_size `}`
  }];
}

def Util_BufferCopyOp : Util_Op<"buffer.copy"> {
  let arguments = (ins Util_BufferType:$source, Index:$source_offset, Index:$source_size, Util_BufferType:$target,
                   Index:$target_offset, Index:$target_size, Index:$length);
  let assemblyFormat = [{
    $source `[` $source_offset `]` `,` $target `[` $target_offset `]` `,` $length attr-dict `:`
    type($source) `` `{` $source_size `}` `->` type($target) `` `{` $target_size `}`
  }];
}

def Util_BufferCompareOp : Util_Op<"buffer.compare"> {
  let summary = "whether two ranges are equal";
  let arguments = (ins Util_BufferType:$lhs, Index:$lhs_offset, Index:$lhs_size, Util_BufferType:$rhs,
                   Index:$rhs_offset, Index:$rhs_size, Index:$length);
  let results = (outs I1:$result);
  let assemblyFormat = [{
    $lhs `[` $lhs_offset `]` `,` $rhs `[` $rhs_offset `]` `,` $length attr-dict `:`
    type($lhs) `` `{` $lhs_size `}` `,` type($rhs) `` `{` $rhs_size `}`
  }];
}

def Util_BufferFillOp : Util_Op<"buffer.fill"> {
  let arguments = (ins AnyType:$pattern, Util_BufferType:$target, Index:$target_offset, Index:$length,
                   Index:$target_size);
  let assemblyFormat = [{
    $pattern `,` $target `[` $target_offset `for` $length `]` attr-dict `:` type($pattern) `->` type($target) `` `{`
    $target_size `}`
  }];
}

def Util_BufferLoadOp : Util_Op<"buffer.load"> {
  let arguments = (ins Util_BufferType:$source, Index:$source_offset, Index:$length, Index:$source_size);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source `[` $source_offset `for` $length `]` attr-dict `:` type($source) `` `{` $source_size `}` `->` type($result)
  }];
}

def Util_BufferStoreOp : Util_Op<"buffer.store"> {
  let arguments = (ins AnyType:$source, Util_BufferType:$target, Index:$target_offset, Index:$length,
                   Index:$target_size);
  let assemblyFormat = [{
    $source `,` $target `[` $target_offset `for` $length `]` attr-dict `:` type($source) `->` type($target) `` `{`
    $target_size `}`
  }];
}

def Util_BufferHashOp : Util_Op<"buffer.hash"> {
  let arguments = (ins Util_BufferType:$source, Index:$source_offset, Index:$length, Index:$source_size);
  let results = (outs I64:$result);
  let assemblyFormat = [{
    $source `[` $source_offset `for` $length `]` attr-dict `:` type($source) `` `{` $source_size `}` `->` type($result)
  }];
}

def Util_OptimizationBarrierOp : Util_Op<"optimization_barrier", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "identity that nothing looks through";
  let arguments = (ins Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def Util_AssumeIntOp : Util_Op<"assume.int", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "the same integers, with what the program knows of them";
  let arguments = (ins Variadic<AnySignlessIntegerOrIndex>:$operands, ArrayAttr:$assumptions);
  let results = (outs Variadic<AnySignlessIntegerOrIndex>:$results);
  let assemblyFormat = "custom<Assumptions>($operands, $assumptions) attr-dict `:` type($operands)";
}

def Util_UnfoldableConstantOp : Util_Op<"unfoldable_constant", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a constant that nothing looks into";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict $value";
}

def Util_NullOp : Util_Op<"null", [Pure]> {
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif
