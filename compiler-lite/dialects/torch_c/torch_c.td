// The dialect `torch_c`: tensors of MLIR as tensors of `torch`, and back.
#ifndef BATON_COMPILER_LITE_DIALECTS_TORCH_C
#define BATON_COMPILER_LITE_DIALECTS_TORCH_C

include "compiler-lite/dialects/base.td"

def TorchC_Dialect : Dialect {
  let name = "torch_c";
  let cppNamespace = "::baton::compiler_lite::torch_c";
  let dependentDialects = ["::baton::compiler_lite::torch::TorchDialect"];
}
def TorchC_ValueTensor : Type<CPred<"::llvm::isa<::baton::compiler_lite::torch::ValueTensorType>($_self)">, "a tensor of torch">;
class TorchC_CastOp<string mnemonic, Type from, Type to> : Op<TorchC_Dialect, mnemonic, [Pure]> {
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
def TorchC_FromBuiltinTensorOp : TorchC_CastOp<"from_builtin_tensor", AnyRankedTensor, TorchC_ValueTensor>;
def TorchC_ToBuiltinTensorOp : TorchC_CastOp<"to_builtin_tensor", TorchC_ValueTensor, AnyRankedTensor>;

#endif
