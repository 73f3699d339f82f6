// An operation of iree_linalg_ext that is not lowered is named, with those that are.
// RUN: not baton-compile %s 2>&1 | FileCheck %s
// CHECK: linalg_ext.mlir:[[@LINE+2]]:{{[0-9]+}}: error: custom op 'iree_linalg_ext.fft' is not lowered: of this dialect there are arg_compare, attention, gather, reverse, scan, scatter, softmax, sort, topk, topk_v2; what linalg has is lowered.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = iree_linalg_ext.fft ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) : tensor<4xf32>
  return %r : tensor<4xf32>
}
