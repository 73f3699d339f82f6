// An operation that no lowering knows is told by its name and its place.
// RUN: not baton-codegen --emit=elf %s 2>&1 | FileCheck %s

func.func @k(%a: tensor<8x4xf32>, %i: tensor<3x1xindex>) -> tensor<3x1x4xf32> {
  // CHECK: unsupported.mlir:[[# @LINE + 1]]:8: error: {{.*}}tensor.gather
  %r = tensor.gather %a[%i] gather_dims([0]) : (tensor<8x4xf32>, tensor<3x1xindex>) -> tensor<3x1x4xf32>
  return %r : tensor<3x1x4xf32>
}
