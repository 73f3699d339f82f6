// The dialect `iree_codegen`: strided metadata and micro kernels, inside kernels.
#ifndef BATON_COMPILER_LITE_DIALECTS_IREE_CODEGEN
#define BATON_COMPILER_LITE_DIALECTS_IREE_CODEGEN

include "compiler-lite/dialects/base.td"

def IREECodegen_Dialect : Dialect {
  let name = "iree_codegen";
  let cppNamespace = "::baton::compiler_lite::iree_codegen";
  let useDefaultAttributePrinterParser = 1;
}
class IREECodegen_Op<string mnemonic, list<Trait> traits = []> : Op<IREECodegen_Dialect, mnemonic, traits>;

def IREECodegen_ExportConfigAttr : AttrDef<IREECodegen_Dialect, "ExportConfig"> {
  let mnemonic = "export_config";
  let parameters = (ins ArrayRefParameter<"int64_t">:$workgroup_size);
  let assemblyFormat = "`<` `workgroup_size` `=` `[` $workgroup_size `]` `>`";
}

def IREECodegen_ExtractStridedMetadataOp : IREECodegen_Op<"extract_strided_metadata", [
    Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "base, offset in elements, sizes, strides: 2 + 2 * rank results, never folded";
  let arguments = (ins AnyMemRef:$source);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($results)";
  let hasVerifier = 1;
}

def IREECodegen_UKernelGenericOp : IREECodegen_Op<"ukernel.generic", [AttrSizedOperandSegments]> {
  let summary = "calls a function on slices of tensors or memrefs";
  let arguments = (ins StrAttr:$u_kernel_fn_name, Variadic<AnyType>:$inputs, Variadic<AnyShaped>:$outputs,
                   Variadic<AnyType>:$other_operands, OptionalAttr<DictionaryAttr>:$fn_def_attrs,
                   OptionalAttr<ArrayAttr>:$strided_dims);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    attr-dict $u_kernel_fn_name (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $outputs^ `:` type($outputs) `)`)? (`(` $other_operands^ `:` type($other_operands) `)`)?
    (`fn_def_attrs` $fn_def_attrs^)? (`strided_dims` `(` $strided_dims^ `)`)? (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif
