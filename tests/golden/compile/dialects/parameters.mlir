// A global may be a tensor of a file, which the host names with its scope: it is asked for when the program is made, by the module `parameters`.
// Without a scope the file is the one that the host gives no scope.
// RUN: %{python} %S/../inputs/weights.py %t.safetensors
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-task --parameters=model=%t.safetensors --parameters=%t.safetensors --function=main --input=3xf32=10 | FileCheck %s
// RUN: baton-compile --compile-to=input %s | FileCheck %s --check-prefix=INPUT
// RUN: not baton-run-module %t.bvm --device=local-task --parameters=model=%t.safetensors --function=main --input=3xf32=10 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not baton-run-module %t.bvm --device=local-task --function=main --input=3xf32=10 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed -e 's/tensor<2x3xf32>/tensor<4x3xf32>/g' %s > %t.shape.mlir
// RUN: baton-compile %t.shape.mlir -o %t.shape.bvm
// RUN: not baton-run-module %t.shape.bvm --device=local-task --parameters=model=%t.safetensors --parameters=%t.safetensors --function=weights 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: sed -e '/^func.func @main/,/^}/d' -e 's/tensor<2x3xf32>/tensor<?x3xf32>/g' %s > %t.open.mlir
// RUN: not baton-compile %t.open.mlir -o %t.open.bvm 2>&1 | FileCheck %s --check-prefix=OPEN
// CHECK: 2x3xf32=[11 13 15][14 16 18]
// INPUT: util.call @parameters.view
// MISSING: No parameter scope '' was given; there are: 'model'
// NONE: parameters
// SHAPE: Tensor 'w' is a 2x3xf32; expected is a 4x3xf32.
// OPEN: names a parameter as a 'tensor<?x3xf32>'; one is a tensor of known sizes
util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<2x3xf32>
util.global private @other = #stream.parameter.named<"other"> : tensor<3xf32>

func.func @main(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %w = util.global.load @w : tensor<2x3xf32>
  %other = util.global.load @other : tensor<3xf32>
  %empty = tensor.empty() : tensor<2x3xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%w, %other, %x : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%empty : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<2x3xf32>
  return %sum : tensor<2x3xf32>
}
func.func @weights() -> tensor<2x3xf32> {
  %w = util.global.load @w : tensor<2x3xf32>
  return %w : tensor<2x3xf32>
}
