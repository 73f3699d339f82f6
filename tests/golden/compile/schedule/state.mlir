// Tensors that stay: globals of any shape, initializers that compute them; gathers, and shapes that are tensors.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=table | FileCheck --check-prefix=TABLE %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=grow --input=2xf32=1,2 | FileCheck --check-prefix=GROW %s
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=gather --input=3x4xf32=1,2,3,4,5,6,7,8,9,10,11,12 --input=2x1xi32=2,0 | FileCheck --check-prefix=GATHER %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=points --input=3x4xf32=1,2,3,4,5,6,7,8,9,10,11,12 --input=3x2xi64=0,0,1,2,2,3 | FileCheck --check-prefix=POINTS %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=reshape --input=6xf32=1,2,3,4,5,6 --input=2xi32=2,3 | FileCheck --check-prefix=RESHAPE %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=reshape_by --input=6xf32=1,2,3,4,5,6 --input=3 | FileCheck --check-prefix=BY %s

// TABLE: 4xf32=0 2 4 6
util.global private @squares : tensor<4xf32>
util.initializer {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %two = util.unfoldable_constant dense<2.0> : tensor<4xf32>
  %y = arith.mulf %x, %two : tensor<4xf32>
  util.global.store %y, @squares : tensor<4xf32>
  util.return
}
func.func @table() -> tensor<4xf32> {
  %x = util.global.load @squares : tensor<4xf32>
  return %x : tensor<4xf32>
}

// GROW: 2xf32=1 2
// GROW: 4xf32=1 2 1 2
util.global private mutable @kept : tensor<?xf32>
func.func private @get() -> tensor<?xf32> attributes {noinline} {
  %x = util.global.load @kept : tensor<?xf32>
  return %x : tensor<?xf32>
}
func.func @grow(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  util.global.store %x, @kept : tensor<?xf32>
  %a = call @get() : () -> tensor<?xf32>
  %twice = tensor.concat dim(0) %a, %a : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  util.global.store %twice, @kept : tensor<?xf32>
  %b = call @get() : () -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// GATHER: 2x4xf32=[18 20 22 24][2 4 6 8]
func.func @gather(%x: tensor<3x4xf32>, %rows: tensor<?x1xi32>) -> tensor<?x4xf32> {
  %y = tensor.gather %x[%rows] gather_dims([0]) : (tensor<3x4xf32>, tensor<?x1xi32>) -> tensor<?x4xf32>
  %z = arith.addf %y, %y : tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}
// POINTS: 3x1x1xf32={{\[\[}}1]]{{\[\[}}7]]{{\[\[}}12]]
func.func @points(%x: tensor<3x4xf32>, %at: tensor<3x2xi64>) -> tensor<3x1x1xf32> {
  %at_index = arith.index_cast %at : tensor<3x2xi64> to tensor<3x2xindex>
  %y = tensor.gather %x[%at_index] gather_dims([0, 1]) : (tensor<3x4xf32>, tensor<3x2xindex>) -> tensor<3x1x1xf32>
  return %y : tensor<3x1x1xf32>
}

// RESHAPE: 2x3xf32=[2 4 6][8 10 12]
func.func @reshape(%x: tensor<?xf32>, %shape: tensor<2xi32>) -> tensor<?x?xf32> {
  %y = arith.addf %x, %x : tensor<?xf32>
  %z = tensor.reshape %y(%shape) : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
// BY: 3x2xf32=[1 2][3 4][5 6]
func.func @reshape_by(%x: tensor<6xf32>, %rows: index) -> tensor<?x2xf32> {
  %two = arith.constant 2 : index
  %shape = tensor.from_elements %rows, %two : tensor<2xindex>
  %y = tensor.reshape %x(%shape) : (tensor<6xf32>, tensor<2xindex>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
