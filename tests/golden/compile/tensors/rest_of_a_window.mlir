// Windows that leave the end of their tensor, and have one place along a dimension: that dimension does not go, since the steps of
// the window would then be counted by the tensor. It was refused, or elements beyond the window were taken, too.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=smallest --input="5x3xi32=9 8 0 7 6 0 5 4 0 3 2 0 1 9 0" | FileCheck --check-prefix=SMALLEST %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=product --input="1x5xf32=1 2 3 4 5" --input="2xf32=10 1" | FileCheck --check-prefix=PRODUCT %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=sum --input="4xf32=1 2 4 8" | FileCheck --check-prefix=SUM %s
// RUN: baton-compile --target-device=cuda %s -o %t.cuda.bvm

// SMALLEST: 3x1xi32=[4][2][1]
func.func @smallest(%x: tensor<5x3xi32>) -> tensor<3x1xi32> {
  %c = arith.constant dense<100> : tensor<3x1xi32>
  %w = tensor.empty() : tensor<3x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i + k, j * 2 + l)>, affine_map<(i, j, k, l) -> (k, l)>, affine_map<(i, j, k, l) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<5x3xi32>, tensor<3x2xf32>) outs(%c : tensor<3x1xi32>) {
  ^bb0(%in: i32, %unused: f32, %out: i32):
    %m = arith.minsi %out, %in : i32
    linalg.yield %m : i32
  } -> tensor<3x1xi32>
  return %r : tensor<3x1xi32>
}

// The weights are as long as the window.
// PRODUCT: 1x1xf32=[12]
func.func @product(%x: tensor<1x5xf32>, %w: tensor<2xf32>) -> tensor<1x1xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j * 3 + k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x5xf32>, tensor<2xf32>) outs(%zero : tensor<1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}

// Here two dimensions of one element stand in one place.
// SUM: 1x1xf32=[3]
func.func @sum(%x: tensor<4xf32>) -> tensor<1x1xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %w = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i * 2 + j * 3 + k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4xf32>, tensor<2xf32>) outs(%zero : tensor<1x1xf32>) {
  ^bb0(%a: f32, %unused: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
