// Groups of operations that differ in the places of their constants only are one kernel.
// RUN: baton-compile %s --compile-to=flow | FileCheck %s
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=twice --input="2x3xf32=1 2 3 4 5 6" | FileCheck --check-prefix=ANSWER %s

// CHECK-COUNT-2: flow.dispatch @dispatch_groups::@twice_0_generic
// CHECK: func.func @twice_0_generic
// CHECK-NOT: func.func
// ANSWER: 2x3xf32={{.*}}-5 -4 -3{{.*}}-11 -10 -9
// ANSWER: 2x3xf32={{.*}}7 8 9{{.*}}19 20 21
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
func.func @twice(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<2xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<2x3xf32>) outs(%filled : tensor<2xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %empty = tensor.empty() : tensor<2x3xf32>
  %b = linalg.generic {indexing_maps = [#matrix, #rows, #matrix], iterator_types = ["parallel", "parallel"]} ins(%a, %sum : tensor<2x3xf32>, tensor<2xf32>) outs(%empty : tensor<2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  %sum2 = linalg.generic {indexing_maps = [#matrix, #rows], iterator_types = ["parallel", "reduction"]} ins(%b : tensor<2x3xf32>) outs(%filled : tensor<2xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %c = linalg.generic {indexing_maps = [#matrix, #rows, #matrix], iterator_types = ["parallel", "parallel"]} ins(%b, %sum2 : tensor<2x3xf32>, tensor<2xf32>) outs(%empty : tensor<2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %b, %c : tensor<2x3xf32>, tensor<2x3xf32>
}
