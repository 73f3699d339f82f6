// Products with maps of their own, as MLIR 20 prints them and as people write them, where nothing else is later than MLIR 19.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=turned "--input=1x2x3xf32=1 2 3 4 5 6" "--input=1x2x3xf32=1 0 1 0 2 0" | FileCheck %s

// CHECK: 1x2x2xf32={{\[\[}}4 4][10 10]]
func.func @turned(%a: tensor<1x2x3xf32>, %b: tensor<1x2x3xf32>) -> tensor<1x2x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x2x2xf32>
  %r = linalg.batch_matmul
      indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                       affine_map<(b, m, n, k) -> (b, n, k)>,
                       affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%a, %b : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%zero : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}
