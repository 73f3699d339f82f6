// The dialect `vm`: what only the host program's machine knows. Its arithmetic and branches are upstream's.
#ifndef BATON_COMPILER_LITE_DIALECTS_VM
#define BATON_COMPILER_LITE_DIALECTS_VM

include "compiler-lite/dialects/base.td"

def VM_Dialect : Dialect {
  let name = "vm";
  let cppNamespace = "::baton::compiler_lite::vm";
  let useDefaultTypePrinterParser = 1;
}
class VM_Op<string mnemonic, list<Trait> traits = []> : Op<VM_Dialect, mnemonic, traits>;
class VM_Type<string name, string type_mnemonic> : TypeDef<VM_Dialect, name> {
  let mnemonic = type_mnemonic;
}

def VM_BufferType : VM_Type<"Buffer", "buffer">;
def VM_RefType : VM_Type<"Ref", "ref"> {
  let summary = "a reference to an object; of any type when `?`";
  let parameters = (ins "::mlir::Type":$object);
  let hasCustomAssemblyFormat = 1;
}
def VM_ListType : VM_Type<"List", "list"> {
  let parameters = (ins "::mlir::Type":$element);
  let hasCustomAssemblyFormat = 1;
}

def VM_ExecutableType : VM_Type<"Executable", "executable"> {
  let summary = "a row of the module's table of executables";
}

def VM_ExecutableOp : VM_Op<"executable", [Symbol]> {
  let summary = "a row of the module's table of executables: vm/executable.hpp says what the attributes hold";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name,
                   OptionalAttr<StrAttr>:$registered_name, ArrayAttr:$entry_points, ArrayAttr:$variants);
  let assemblyFormat = [{
    $sym_name (`registered` $registered_name^)? `entry_points` $entry_points
    `variants` $variants attr-dict
  }];
}

def VM_ConstExecutableOp : VM_Op<"const.executable", [Pure]> {
  let summary = "the row of that name";
  let arguments = (ins FlatSymbolRefAttr:$executable);
  let results = (outs VM_ExecutableType:$result);
  let assemblyFormat = "$executable attr-dict `:` type($result)";
}

def VM_ImportOp : VM_Op<"import", [Symbol]> {
  let summary = "a function of another module; an argument type followed by `...` repeats as each call says";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, UnitAttr:$is_optional, SymbolNameAttr:$sym_name,
                   TypeAttrOf<FunctionType>:$function_type, OptionalAttr<DenseBoolArrayAttr>:$variadic);
  let hasCustomAssemblyFormat = 1;
}

def VM_ImportResolvedOp : VM_Op<"import.resolved", [Pure]> {
  let summary = "1 when the optional import was found";
  let arguments = (ins FlatSymbolRefAttr:$import);
  let results = (outs I32:$result);
  let assemblyFormat = "$import attr-dict `:` type($result)";
}

def VM_CallVariadicOp : VM_Op<"call.variadic"> {
  let summary = "calls an import with repeated arguments: `segments` says how often each of them stands";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands, DenseI32ArrayAttr:$segments);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $operands `)` `segments` `(` $segments `)` attr-dict `:` functional-type($operands, $results)
  }];
}

def VM_CallOp : VM_Op<"call"> {
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}

#endif
