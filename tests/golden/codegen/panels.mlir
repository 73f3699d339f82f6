// The rows of a product on cores are its longest loops, not the taps of a window that a tile was left with: a panel of B is
// packed once for all taps, and whole tiles of rows go over it. The last columns have no more vectors than they fill.
// RUN: baton-codegen --emit=loops %s | FileCheck %s

// CHECK-LABEL: func.func @weights_of_window()
// CHECK: %[[TAPS:.+]] = affine.min
// CHECK: vector.store %{{.+}}, %[[PANEL:.+]][%{{.+}}, %c0]
// CHECK: scf.for %{{.+}} = %c0 to %[[TAPS]] step %c1 {
// CHECK: scf.for %{{.+}} = %c0 to %c64 step %c4 {
// CHECK: vector.load %[[PANEL]]
#image = affine_map<(o, y, x, i, n, u, v) -> (n, y + u, x + v, i)>
#change = affine_map<(o, y, x, i, n, u, v) -> (n, u, v, o)>
#weights = affine_map<(o, y, x, i, n, u, v) -> (y, x, i, o)>
func.func @weights_of_window(%image: tensor<2x10x10x64xf32>, %change: tensor<2x8x8x64xf32>) -> tensor<3x3x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x3x64x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x3x64x64xf32>) -> tensor<3x3x64x64xf32>
  %sums = linalg.generic {indexing_maps = [#image, #change, #weights],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %change : tensor<2x10x10x64xf32>, tensor<2x8x8x64xf32>) outs(%none : tensor<3x3x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<3x3x64x64xf32>
  return %sums : tensor<3x3x64x64xf32>
}

// CHECK-LABEL: func.func @five_columns()
// CHECK: scf.for %{{.+}} = %c0 to %c60 step %c6 {
// CHECK-COUNT-6: vector.maskedload
// CHECK-NOT: vector.maskedload
// CHECK: return
func.func @five_columns(%a: tensor<60x64xf32>, %b: tensor<64x5xf32>) -> tensor<60x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<60x5xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<60x5xf32>) -> tensor<60x5xf32>
  %product = linalg.matmul ins(%a, %b : tensor<60x64xf32>, tensor<64x5xf32>) outs(%none : tensor<60x5xf32>) -> tensor<60x5xf32>
  return %product : tensor<60x5xf32>
}
