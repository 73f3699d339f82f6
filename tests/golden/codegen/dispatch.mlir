// What a dispatch passes: bindings, constants, grid.
// RUN: baton-codegen --emit=grids %s | FileCheck %s

// CHECK-LABEL: mixed
// CHECK-NEXT: binding argument 1
// CHECK-NEXT: binding argument 3 written
// CHECK-NEXT: binding result 1 written
// CHECK-NEXT: word 0 x1 argument 0 : f16
// CHECK-NEXT: word 1 x2 argument 2 : f64
// CHECK-NEXT: word 3 x1 size 0 of argument 1 : index
// CHECK-NEXT: word 4 x1 size 0 of argument 3 : index
// CHECK-NEXT: word 5 x1 size 0 of result 0 : index
// CHECK-NEXT: word 6 x1 size 0 of result 1 : index
func.func @mixed(%s: f16, %a: tensor<?x8xf32>, %t: f64, %b: tensor<?xi32>) -> (tensor<?xi32>, tensor<?x8xf32>)
    attributes {tied_operands = [3, -1]} {
  return %b, %a : tensor<?xi32>, tensor<?x8xf32>
}

// Elementwise work has no dimensions: 40 * 50 * 60 elements make four tiles.
// CHECK-LABEL: flat
// CHECK: grid () -> (4, 1, 1)
func.func @flat(%a: tensor<40x50x60xf32>) -> tensor<40x50x60xf32> {
  %r = arith.addf %a, %a : tensor<40x50x60xf32>
  return %r : tensor<40x50x60xf32>
}

// A product has tiles of 128 by 128.
// CHECK-LABEL: product
// CHECK: grid ()[s0, s1] -> ((s1 ceildiv 128) * 4, 1, 1)
func.func @product(%a: tensor<?x64xf32>, %b: tensor<64x512xf32>) -> tensor<?x512xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x64xf32>, tensor<64x512xf32>) outs(%f : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %r : tensor<?x512xf32>
}
