// A kernel's gradient over N, C, H, W has columns of three taps: channels take their place, in the result and in what moves
// along them, for cores and for blocks of threads. Products of many columns stay as they are.
// RUN: baton-compile --compile-to=global-optimization %s | FileCheck %s
// RUN: baton-compile --compile-to=global-optimization --target-backends=cuda %s | FileCheck %s --check-prefix=BLOCKS

// CHECK-LABEL: util.func public @taps
// CHECK: linalg.transpose {{.*}} outs({{.*}} : tensor<2x18x18x16xf32>) permutation = [0, 2, 3, 1]
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<32x3x3x16xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<32x16x3x3xf32>)
// BLOCKS-LABEL: util.func public @taps
// BLOCKS: linalg.transpose {{.*}} outs({{.*}} : tensor<2x18x18x16xf32>) permutation = [0, 2, 3, 1]
// BLOCKS: linalg.transpose {{.*}} outs({{.*}} : tensor<2x16x16x32xf32>) permutation = [0, 2, 3, 1]
// BLOCKS: linalg.generic {{.*}} outs({{.*}} : tensor<3x3x16x32xf32>)
// BLOCKS-LABEL: util.func public @many
#image = affine_map<(o, i, y, x, n, u, v) -> (n, i, y + u, x + v)>
#change = affine_map<(o, i, y, x, n, u, v) -> (n, o, u, v)>
#weights = affine_map<(o, i, y, x, n, u, v) -> (o, i, y, x)>
func.func @taps(%image: tensor<2x16x18x18xf32>, %change: tensor<2x32x16x16xf32>) -> tensor<32x16x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x16x3x3xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x16x3x3xf32>) -> tensor<32x16x3x3xf32>
  %sums = linalg.generic {indexing_maps = [#image, #change, #weights],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %change : tensor<2x16x18x18xf32>, tensor<2x32x16x16xf32>) outs(%none : tensor<32x16x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<32x16x3x3xf32>
  return %sums : tensor<32x16x3x3xf32>
}

// CHECK-LABEL: util.func public @many
// CHECK-NOT: transpose
// CHECK: linalg.matmul
func.func @many(%a: tensor<64x64xf32>, %b: tensor<64x12xf32>) -> tensor<64x12xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x12xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x12xf32>) -> tensor<64x12xf32>
  %product = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x12xf32>) outs(%none : tensor<64x12xf32>) -> tensor<64x12xf32>
  return %product : tensor<64x12xf32>
}
