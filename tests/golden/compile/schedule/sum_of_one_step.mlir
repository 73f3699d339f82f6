// A sum over a dimension of one element, and then the same for each element of its row: nothing is added twice.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=sum --input=2x1xf32=3,5 --input=2x4xf32=1 | FileCheck %s --check-prefix=SUM
// RUN: baton-run-module %t.bvm --device=local-sync --function=onto --input=2xf32=3,5 --input=2xf32=10,20 --input=2x4xf32=1 | FileCheck %s --check-prefix=ONTO

// SUM: 2x4xf32=[4 4 4 4][6 6 6 6]
func.func @sum(%x: tensor<2x1xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x1xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %w = tensor.empty() : tensor<2x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %y : tensor<2xf32>, tensor<2x4xf32>) outs(%w : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// What an operation adds to, element by element, is no number.
// ONTO: 2x4xf32=[14 14 14 14][26 26 26 26]
func.func @onto(%x: tensor<2xf32>, %start: tensor<2xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%start : tensor<2xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %w = tensor.empty() : tensor<2x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %y : tensor<2xf32>, tensor<2x4xf32>) outs(%w : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
