// What a kernel can't take is told where it stands, in a sentence.
// RUN: not baton-codegen --emit=elf %s 2>&1 | FileCheck %s

// CHECK: argument.mlir:[[# @LINE + 1]]:1: error: A kernel can't take an argument of type '!util.buffer'.
func.func @k(%a: !util.buffer) -> tensor<4xf32> {
  %r = tensor.empty() : tensor<4xf32>
  return %r : tensor<4xf32>
}
