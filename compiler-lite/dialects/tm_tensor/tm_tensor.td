// The dialect `tm_tensor`: what torch-mlir leaves beside linalg, in its own form.
#ifndef BATON_COMPILER_LITE_DIALECTS_TM_TENSOR
#define BATON_COMPILER_LITE_DIALECTS_TM_TENSOR

include "compiler-lite/dialects/base.td"

def TmTensor_Dialect : Dialect {
  let name = "tm_tensor";
  let cppNamespace = "::baton::compiler_lite::tm_tensor";
}
class TmTensor_Op<string mnemonic, list<Trait> traits = []> : Op<TmTensor_Dialect, mnemonic, traits>;
// The results have the types of `outputs`, which are what the results begin with.
class TmTensor_RegionOp<string mnemonic>
    : TmTensor_Op<mnemonic, [AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let hasVerifier = 1;
}

def TmTensor_ScanOp : TmTensor_RegionOp<"scan"> {
  let summary = "out[i] = f(out[i - 1], in[i]), from in[0] or, when not inclusive, from the accumulator on, which then is the last one";
  let arguments = (ins I64Attr:$dimension, BoolAttr:$inclusive, Variadic<AnyRankedTensor>:$inputs,
                   Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` `inclusive` `(` $inclusive `)` `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` $region (`->` type($results)^)?
  }];
}
def TmTensor_ScatterOp : TmTensor_RegionOp<"scatter"> {
  let summary = "out[indices] = f(update, out[indices]), one update after the other";
  let arguments = (ins DenseI64ArrayAttr:$dimension_map, BoolAttr:$unique_indices, Variadic<AnyRankedTensor>:$inputs,
                   Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    attr-dict `unique_indices` `(` $unique_indices `)` `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` $region (`->` type($results)^)?
  }];
}
def TmTensor_SortOp : TmTensor_RegionOp<"sort"> {
  let summary = "rows of all outputs in the order in which f(a, b) holds for neighbours";
  let arguments = (ins I64Attr:$dimension, Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` $region (`->` type($results)^)?
  }];
}
def TmTensor_YieldOp : TmTensor_Op<"yield", [Pure, Terminator]> {
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif
