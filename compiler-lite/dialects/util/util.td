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

def Util_OptimizationBarrierOp : Util_Op<"optimization_barrier", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "identity that nothing looks through";
  let arguments = (ins Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
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
