// An operation of TOSA 1.0 that has no form in MLIR 19's tosa is named, with what would do.
// RUN: not baton-compile %s 2>&1 | FileCheck %s
// CHECK: later_tosa.mlir:[[@LINE+2]]:{{[0-9]+}}: error: tosa.maximum is not lowered in this form; with nan_mode PROPAGATE it is.
func.func @larger(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = tosa.maximum %a, %b nan_mode<IGNORE> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
