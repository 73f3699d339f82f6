// The dialect `stream`: executables whose kernels see bindings, before a target is chosen.
#ifndef BATON_COMPILER_LITE_DIALECTS_STREAM
#define BATON_COMPILER_LITE_DIALECTS_STREAM

include "compiler-lite/dialects/base.td"

def Stream_Dialect : Dialect {
  let name = "stream";
  let cppNamespace = "::baton::compiler_lite::stream";
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{ std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override; }];
}
class Stream_Op<string mnemonic, list<Trait> traits = []> : Op<Stream_Dialect, mnemonic, traits>;
class Stream_Type<string name, string type_mnemonic> : TypeDef<Stream_Dialect, name> {
  let mnemonic = type_mnemonic;
}

def Stream_BindingType : Stream_Type<"Binding", "binding"> { let summary = "a buffer range as a kernel sees it"; }
def Stream_TimepointType : Stream_Type<"Timepoint", "timepoint">;
def Stream_ResourceType : Stream_Type<"Resource", "resource"> {
  let summary = "device memory of a lifetime: *, external, transient, variable, constant, staging";
  let parameters = (ins StringRefParameter<>:$lifetime);
  let hasCustomAssemblyFormat = 1;
}

def Stream_ExecutableOp : Stream_Op<"executable", ContainerTraits<[Symbol]>.traits> {
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    custom<Visibility>($sym_visibility) $sym_name attr-dict-with-keyword custom<Container>($body)
  }];
}

def Stream_ExecutableExportOp : Stream_Op<"executable.export", [Symbol, IsolatedFromAbove]> {
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$export_name);
  let regions = (region AnyRegion:$workgroup_count);
  let assemblyFormat = [{
    custom<Visibility>($sym_visibility) $sym_name (`as` `(` $export_name^ `)`)?
    (`workgroups` `` custom<WorkgroupCount>($workgroup_count)^)? attr-dict-with-keyword
  }];
}

def Stream_BindingSubspanOp : Stream_Op<"binding.subspan", [Pure]> {
  let arguments = (ins Stream_BindingType:$binding, Index:$byte_offset, Variadic<Index>:$dynamic_dims);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $binding `[` $byte_offset `]` attr-dict `:` type($binding) `->` custom<ShapedType>(type($result), $dynamic_dims)
  }];
}

class Stream_WorkgroupOp<string what> : Stream_Op<"dispatch.workgroup." # what, [Pure]> {
  let arguments = (ins IndexAttr:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = "`` custom<Dimension>($dimension) attr-dict `:` type($result)";
}
def Stream_DispatchWorkgroupIDOp : Stream_WorkgroupOp<"id">;
def Stream_DispatchWorkgroupCountOp : Stream_WorkgroupOp<"count">;
def Stream_DispatchWorkgroupSizeOp : Stream_WorkgroupOp<"size">;

def Stream_ReturnOp : Stream_Op<"return", [Pure, ReturnLike, Terminator]> {
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif
