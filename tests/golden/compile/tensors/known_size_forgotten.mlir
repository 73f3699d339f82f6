// A tensor of a known size, cast to an unknown one: what fuses elementwise operations and what makes tensors without values
// took turns for ever. Each kind of operation whose result begins as such a tensor.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=unfoldable --function=folded | FileCheck %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=argument --input="4xf32=1 2 3 4" | FileCheck --check-prefix=ARGUMENT %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=chain --input="4xf32=1 2 3 4" --input="4xf32=1 1 1 1" | FileCheck --check-prefix=CHAIN %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=product --input="2x3xf32=1" --input="3x2xf32=1" | FileCheck --check-prefix=PRODUCT %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=forgotten_empty --input=2 | FileCheck --check-prefix=EMPTY %s

// CHECK: 4xf32=1 -1 16 18
func.func @unfoldable() -> tensor<?xf32> {
  %a = util.unfoldable_constant dense<[0.5, -0.5, 8.0, 9.0]> : tensor<4xf32>
  %d = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %e = arith.addf %d, %d : tensor<?xf32>
  return %e : tensor<?xf32>
}
// CHECK: 2xf32=3 4
func.func @folded() -> tensor<?xf32> {
  %a = arith.constant dense<[1.5, 2.0]> : tensor<2xf32>
  %d = tensor.cast %a : tensor<2xf32> to tensor<?xf32>
  %e = arith.addf %d, %d : tensor<?xf32>
  return %e : tensor<?xf32>
}
// ARGUMENT: 4xf32=-1 -2 -3 -4
func.func @argument(%a: tensor<4xf32>) -> tensor<?xf32> {
  %d = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %e = arith.negf %d : tensor<?xf32>
  return %e : tensor<?xf32>
}
// CHAIN: 4xf32=2 6 12 20
func.func @chain(%a: tensor<4xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %d = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %e = arith.addf %d, %b : tensor<?xf32>
  %f = tensor.cast %e : tensor<?xf32> to tensor<4xf32>
  %g = arith.mulf %a, %f : tensor<4xf32>
  %h = tensor.cast %g : tensor<4xf32> to tensor<?xf32>
  return %h : tensor<?xf32>
}
// PRODUCT: 2x2xf32=[-3 -3][-3 -3]
func.func @product(%a: tensor<2x3xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %x = tensor.cast %a : tensor<2x3xf32> to tensor<?x?xf32>
  %empty = tensor.empty() : tensor<2x2xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %open = tensor.cast %none : tensor<2x2xf32> to tensor<?x?xf32>
  %c = linalg.matmul ins(%x, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%open : tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = arith.negf %c : tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}
// EMPTY: 4xf32=2 2 2 2
func.func @forgotten_empty(%v: f32) -> tensor<?xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %open = tensor.cast %empty : tensor<4xf32> to tensor<?xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%v : f32) outs(%open : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %x : tensor<?xf32>
}
