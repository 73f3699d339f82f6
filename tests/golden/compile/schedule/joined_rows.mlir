// Sums along several short dimensions that lie one after the other go along one loop where cores compute, and what goes along the
// same elements with them: a norm over the pixels of an image is one kernel. What a convolution hands on keeps its dimensions, and
// so do blocks of threads.
// RUN: baton-compile --target-device=local --cpu-levels=avx2 --compile-to=flow %s | FileCheck %s --check-prefix=FLOW
// RUN: baton-compile --target-device=cuda --compile-to=flow %s | FileCheck %s --check-prefix=BLOCKS
// RUN: baton-compile --target-device=local --cpu-levels=avx2 %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=norm --input="2x3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12 3 3 3 3 3 3 3 3 3 3 3 15" | FileCheck %s --check-prefix=NORM
// RUN: baton-run-module %t.bvm --device=local-sync --function=channels --input="2x3x2x2xi32=1 2 3 4 5 6 7 8 9 10 11 12 1 1 1 1 2 2 2 2 3 3 3 3" | FileCheck %s --check-prefix=CHANNELS
// RUN: baton-run-module %t.bvm --device=local-sync --function=turned --input="2x2x3xi32=1 2 3 4 5 6 7 8 9 10 11 12" | FileCheck %s --check-prefix=TURNED

#image = affine_map<(n, y, x) -> (n, y, x)>
#each = affine_map<(n, y, x) -> (n)>
// FLOW-LABEL: util.func public @norm
// FLOW: flow.dispatch
// FLOW-NOT: flow.dispatch
// FLOW: util.return
// NORM: 2x3x4xf32={{\[\[}}-5.5 -4.5 -3.5 -2.5][-1.5 -0.5 0.5 1.5][2.5 3.5 4.5 5.5]]{{\[\[}}-1 -1 -1 -1][-1 -1 -1 -1][-1 -1 -1 11]]
func.func @norm(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 12.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#image, #each], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<2x3x4xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%v: f32, %s: f32):
    %n = arith.addf %s, %v : f32
    linalg.yield %n : f32
  } -> tensor<2xf32>
  %o = tensor.empty() : tensor<2x3x4xf32>
  %r = linalg.generic {indexing_maps = [#image, #each, #image], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum : tensor<2x3x4xf32>, tensor<2xf32>) outs(%o : tensor<2x3x4xf32>) {
  ^bb0(%v: f32, %s: f32, %u: f32):
    %mean = arith.divf %s, %count : f32
    %d = arith.subf %v, %mean : f32
    linalg.yield %d : f32
  } -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// The batch stays a loop of its own.
// FLOW-LABEL: util.func public @channels
// FLOW: flow.dispatch {{.*}}(tensor<2x3x4xi32>)
// BLOCKS-LABEL: util.func public @channels
// BLOCKS: flow.dispatch {{.*}}(tensor<2x3x2x2xi32>)
// CHANNELS: 3xi32=14 34 54
func.func @channels(%x: tensor<2x3x2x2xi32>) -> tensor<3xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, n, y, x) -> (n, c, y, x)>, affine_map<(c, n, y, x) -> (c)>],
      iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%x : tensor<2x3x2x2xi32>) outs(%f : tensor<3xi32>) {
  ^bb0(%v: i32, %s: i32):
    %n = arith.addi %s, %v : i32
    linalg.yield %n : i32
  } -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// Two operands that lie the one along the rows and the other along the columns have no loop in common.
// FLOW-LABEL: util.func public @turned
// FLOW: flow.dispatch {{.*}}(tensor<2x2x3xi32>, tensor<3x2xi32>)
// TURNED: 2xi32=91 559
func.func @turned(%x: tensor<2x2x3xi32>) -> tensor<2xi32> {
  %w = arith.constant dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2xi32>) -> tensor<2xi32>
  %r = linalg.generic {indexing_maps = [#image, affine_map<(n, y, x) -> (x, y)>, #each],
      iterator_types = ["parallel", "reduction", "reduction"]} ins(%x, %w : tensor<2x2x3xi32>, tensor<3x2xi32>) outs(%f : tensor<2xi32>) {
  ^bb0(%v: i32, %u: i32, %s: i32):
    %p = arith.maxsi %v, %u : i32
    %q = arith.muli %p, %v : i32
    %n = arith.addi %s, %q : i32
    linalg.yield %n : i32
  } -> tensor<2xi32>
  return %r : tensor<2xi32>
}
