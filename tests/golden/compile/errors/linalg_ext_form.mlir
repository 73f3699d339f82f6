// A gather whose indices don't fit its source says which do.
// RUN: not baton-compile %s 2>&1 | FileCheck %s
// CHECK: linalg_ext_form.mlir:[[@LINE+3]]:{{[0-9]+}}: error: iree_linalg_ext.gather is not lowered in this form; a gather from a source by indices whose last dimension is as long as dimension_map is.
func.func @f(%x: tensor<4x2xf32>, %i: tensor<3x3xi32>) -> tensor<3xf32> {
  %out = tensor.empty() : tensor<3xf32>
  %r = iree_linalg_ext.gather dimension_map = [0, 1] ins(%x, %i : tensor<4x2xf32>, tensor<3x3xi32>) outs(%out : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
