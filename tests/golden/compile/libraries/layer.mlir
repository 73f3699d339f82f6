// A layer in one command: the product, what is added to each column, and the activation; the page of modules/libraries shows it.
// REQUIRES: native
// RUN: baton-compile --library=%S/inputs/every.library.mlir %s -o %t.bvm
// RUN: baton-run-module --device=local-sync "--module=%libraries/blas.so?report=1" --module=%t.bvm --function=layer --input=8x1600xf32=2 --input=1600x8xf32=3 --input=8xf32=-500 2>&1 | FileCheck %s
// CHECK: blas: recorded blas.gemm 8x8x1600
// CHECK: 8x8xf32=[9100 9100
#here = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @layer(%a: tensor<8x1600xf32>, %b: tensor<1600x8xf32>, %x: tensor<8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8x1600xf32>, tensor<1600x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %layer = linalg.generic {indexing_maps = [#here, #column, #here], iterator_types = ["parallel", "parallel"]}
      ins(%r, %x : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.addf %p, %q : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  return %layer : tensor<8x8xf32>
}
