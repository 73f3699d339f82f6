// The dialect `tosa`: the few operations that programs for this compiler are written with, in the form of TOSA 1.0, which
// is newer than the dialect of that name in MLIR 19.
#ifndef BATON_COMPILER_LITE_DIALECTS_TOSA
#define BATON_COMPILER_LITE_DIALECTS_TOSA

include "compiler-lite/dialects/base.td"

def Tosa_Dialect : Dialect {
  let name = "tosa";
  let cppNamespace = "::baton::compiler_lite::tosa";
  let useDefaultTypePrinterParser = 1;
}
class Tosa_Op<string mnemonic, list<Trait> traits = []> : Op<Tosa_Dialect, mnemonic, !listconcat([Pure], traits)> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Tosa_ShapeType : TypeDef<Tosa_Dialect, "Shape"> {
  let mnemonic = "shape";
  let summary = "a list of sizes, known when compiled";
  let parameters = (ins "int64_t":$rank);
  let assemblyFormat = "`<` $rank `>`";
}

def Tosa_ConstShapeOp : Tosa_Op<"const_shape"> {
  let summary = "sizes; -1 stands for what is left";
  let arguments = (ins ElementsAttr:$values);
  let results = (outs Tosa_ShapeType:$result);
}
def Tosa_ConstOp : Tosa_Op<"const"> {
  let arguments = (ins ElementsAttr:$values);
  let results = (outs AnyRankedTensor:$result);
}
def Tosa_ReshapeOp : Tosa_Op<"reshape"> {
  let arguments = (ins AnyRankedTensor:$operand, Tosa_ShapeType:$shape);
  let results = (outs AnyRankedTensor:$result);
}
def Tosa_MatMulOp : Tosa_Op<"matmul"> {
  let summary = "batches of matrix products; zero points are subtracted before";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$lhs_zero_point,
                   AnyRankedTensor:$rhs_zero_point);
  let results = (outs AnyRankedTensor:$result);
}
def Tosa_ClampOp : Tosa_Op<"clamp"> {
  let summary = "min(max(x, min_val), max_val)";
  let arguments = (ins AnyRankedTensor:$operand, TypedAttrInterface:$min_val, TypedAttrInterface:$max_val,
                   OptionalAttr<StrAttr>:$nan_mode);
  let results = (outs AnyRankedTensor:$result);
}
def Tosa_NegateOp : Tosa_Op<"negate"> {
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$input_zero_point, AnyRankedTensor:$output_zero_point);
  let results = (outs AnyRankedTensor:$result);
}

#endif
