// An attention without a scale says what is lowered.
// RUN: not baton-compile %s 2>&1 | FileCheck %s
// CHECK: linalg_ext_attention.mlir:[[@LINE+2]]:{{[0-9]+}}: error: iree_linalg_ext.attention is not lowered in this form; one of floats, with a scale, a map for each operand and a region from f32 to f32, is.
func.func @f(%q: tensor<2x2xf32>, %k: tensor<3x2xf32>, %v: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %r = iree_linalg_ext.attention <indexing_maps = [affine_map<(m, n, c, k) -> (m, c)>, affine_map<(m, n, c, k) -> (k, c)>, affine_map<(m, n, c, k) -> (k, n)>, affine_map<(m, n, c, k) -> (m, n)>]>
      ins(%q, %k, %v : tensor<2x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) outs(%q : tensor<2x2xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
