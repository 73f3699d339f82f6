// A result can only overwrite an argument of its own type.
// RUN: not baton-codegen %s 2>&1 | FileCheck %s

// CHECK: tied.mlir:[[# @LINE + 1]]:1: error: Result 0 is tied to argument 1, which is not a tensor of the result's type.
func.func @k(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4xf32> attributes {tied_operands = [1]} {
  return %a : tensor<4xf32>
}
