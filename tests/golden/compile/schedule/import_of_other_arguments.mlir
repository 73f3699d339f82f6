// A type of an import that takes other arguments than the import (import_of_several_types.mlir) is refused.
// RUN: not baton-compile %s --target-device=local -o %t.bvm 2>&1 | FileCheck %s
// CHECK: is another type of 'collective.all_reduce', which takes other arguments
util.func private @collective.all_reduce$1(tensor<2x3xi32>) -> tensor<2x3xi32> attributes {iree.abi.streamable}
util.func private @collective.all_reduce(tensor<4xf32>, i32) -> tensor<4xf32> attributes {iree.abi.streamable}
func.func @both(%x: tensor<4xf32>, %y: tensor<2x3xi32>) -> (tensor<4xf32>, tensor<2x3xi32>) {
  %sum = arith.constant 1 : i32
  %a = util.call @collective.all_reduce(%x, %sum) : (tensor<4xf32>, i32) -> tensor<4xf32>
  %b = util.call @collective.all_reduce$1(%y) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %a, %b : tensor<4xf32>, tensor<2x3xi32>
}
