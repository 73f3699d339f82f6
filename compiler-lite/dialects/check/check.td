// The dialect `check`: expectations of test programs.
#ifndef BATON_COMPILER_LITE_DIALECTS_CHECK
#define BATON_COMPILER_LITE_DIALECTS_CHECK

include "compiler-lite/dialects/base.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::baton::compiler_lite::check";
}
class Check_Op<string mnemonic, list<Trait> traits = []> : Op<Check_Dialect, mnemonic, traits>;

class Check_ScalarOp<string mnemonic> : Check_Op<mnemonic> {
  let arguments = (ins I32:$operand);
  let assemblyFormat = "`` `(` $operand `)` attr-dict `:` type($operand)";
}
def Check_ExpectTrueOp : Check_ScalarOp<"expect_true">;
def Check_ExpectFalseOp : Check_ScalarOp<"expect_false">;

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const"> {
  let arguments = (ins Optional<AnyType>:$device, AnyRankedTensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = [{
    `` (`<` $device^ `:` type($device) `>`)? `` `(` $lhs `,` $value `)` attr-dict `:` type($lhs)
  }];
}

def Check_ExpectAlmostEqConstOp : Check_Op<"expect_almost_eq_const"> {
  let summary = "|lhs - value| <= atol + rtol * |value|, for each element";
  let arguments = (ins Optional<AnyType>:$device, AnyRankedTensor:$lhs, ElementsAttr:$value,
                   DefaultValuedAttr<F32Attr, "1e-4f">:$atol, DefaultValuedAttr<F32Attr, "0.0f">:$rtol);
  let assemblyFormat = [{
    `` (`<` $device^ `:` type($device) `>`)? `` `(` $lhs `,` $value `` custom<Tolerances>($atol, $rtol) `)` attr-dict `:`
    type($lhs)
  }];
}

def Check_ExpectEqOp : Check_Op<"expect_eq", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "two tensors are the same";
  let arguments = (ins Optional<AnyType>:$device, AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = [{
    `` (`<` $device^ `:` type($device) `>`)? `` `(` $lhs `,` $rhs `)` attr-dict `:` type($lhs)
  }];
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "|lhs - rhs| <= atol + rtol * |rhs|, for each element";
  let arguments = (ins Optional<AnyType>:$device, AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
                   DefaultValuedAttr<F32Attr, "1e-4f">:$atol, DefaultValuedAttr<F32Attr, "0.0f">:$rtol);
  let assemblyFormat = [{
    `` (`<` $device^ `:` type($device) `>`)? `` `(` $lhs `,` $rhs `` custom<Tolerances>($atol, $rtol) `)` attr-dict `:`
    type($lhs)
  }];
}

#endif
