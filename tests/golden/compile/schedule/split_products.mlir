// A product of few tiles and many steps is divided along its steps for blocks of a GPU (cuda/split_products.mlir) and is one dispatch
// where a core takes part, whose kernels go along all steps.
// RUN: baton-compile --target-device=cuda --dump-schedule %s | FileCheck %s --check-prefixes=CHECK,PARTS
// RUN: baton-compile --target-device=local --target-device=cuda --cpu-levels=avx2 --dump-schedule %s | FileCheck %s
// CHECK-LABEL: recording product.0
// CHECK: {{^  dispatch}}
// PARTS: {{^  dispatch}}
// CHECK-NOT: {{^  dispatch}}
func.func @product(%a: tensor<96x2048xf32>, %b: tensor<2048x72xf32>) -> tensor<96x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x72xf32>) -> tensor<96x72xf32>
  %r = linalg.matmul ins(%a, %b : tensor<96x2048xf32>, tensor<2048x72xf32>) outs(%f : tensor<96x72xf32>) -> tensor<96x72xf32>
  return %r : tensor<96x72xf32>
}
