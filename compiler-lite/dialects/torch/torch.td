// The dialect `torch`: the few operations of that frontend that programs for this compiler are written with.
#ifndef BATON_COMPILER_LITE_DIALECTS_TORCH
#define BATON_COMPILER_LITE_DIALECTS_TORCH

include "compiler-lite/dialects/base.td"

def Torch_Dialect : Dialect {
  let name = "torch";
  let cppNamespace = "::baton::compiler_lite::torch";
  let useDefaultTypePrinterParser = 1;
}
class Torch_Op<string mnemonic, list<Trait> traits = []> : Op<Torch_Dialect, mnemonic, !listconcat([Pure], traits)>;

def Torch_ValueTensorType : TypeDef<Torch_Dialect, "ValueTensor"> {
  let mnemonic = "vtensor";
  let summary = "a tensor: `!torch.vtensor<[?,4],f32>`";
  let parameters = (ins ArrayRefParameter<"int64_t">:$sizes, "::mlir::Type":$element);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    // The same as a tensor of MLIR.
    ::mlir::RankedTensorType tensor() const;
  }];
}

def Torch_AtenMmOp : Torch_Op<"aten.mm"> {
  let summary = "the product of two matrices";
  let arguments = (ins Torch_ValueTensorType:$lhs, Torch_ValueTensorType:$rhs);
  let results = (outs Torch_ValueTensorType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` qualified(type($lhs)) `,` qualified(type($rhs)) `->` qualified(type($result))";
}
def Torch_AtenReluOp : Torch_Op<"aten.relu"> {
  let summary = "max(x, 0)";
  let arguments = (ins Torch_ValueTensorType:$operand);
  let results = (outs Torch_ValueTensorType:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($operand)) `->` qualified(type($result))";
}

#endif
