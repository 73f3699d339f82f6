// Who reads a product and another reader of it goes along the joined loops with that one; the compiler then looked for it again.
// RUN: baton-compile --target-device=cuda --compile-to=flow %s | FileCheck %s
// RUN: baton-compile --target-device=local %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=readers --input=3x7x7x32xf32=0.125 --input=32x48xf32=0.25 | FileCheck %s --check-prefix=NUMBERS
// CHECK-COUNT-3: flow.dispatch {{.*}} -> tensor<147x48xf32>
// CHECK-NOT: flow.dispatch {{.*}} -> tensor<3x7x7x48xf32>
// NUMBERS: 3x7x7x48xf32={{\[*}}1 1
// NUMBERS: 3x7x7x48xf32={{\[*}}0.761594 0.761594
// NUMBERS: 3x7x7x48xf32={{\[*}}0.761594 0.761594
// NUMBERS: 3x7x7xf32={{\[*}}36.5565 36.5565
#x = affine_map<(n, h, w, o, c) -> (n, h, w, c)>
#k = affine_map<(n, h, w, o, c) -> (c, o)>
#r = affine_map<(n, h, w, o, c) -> (n, h, w, o)>
#each = affine_map<(n, h, w, o) -> (n, h, w, o)>
#row = affine_map<(n, h, w, o) -> (n, h, w)>

func.func @readers(%x: tensor<3x7x7x32xf32>, %k: tensor<32x48xf32>) -> (tensor<3x7x7x48xf32>, tensor<3x7x7x48xf32>, tensor<3x7x7x48xf32>, tensor<3x7x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x7x7x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x7x7x48xf32>) -> tensor<3x7x7x48xf32>
  %product = linalg.generic {indexing_maps = [#x, #k, #r], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %k : tensor<3x7x7x32xf32>, tensor<32x48xf32>) outs(%start : tensor<3x7x7x48xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<3x7x7x48xf32>
  %wave = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product : tensor<3x7x7x48xf32>) outs(%empty : tensor<3x7x7x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.tanh %a : f32
    linalg.yield %t : f32
  } -> tensor<3x7x7x48xf32>
  %sums = tensor.empty() : tensor<3x7x7xf32>
  %first = linalg.fill ins(%zero : f32) outs(%sums : tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
  %sum = linalg.generic {indexing_maps = [#each, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%wave : tensor<3x7x7x48xf32>) outs(%first : tensor<3x7x7xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<3x7x7xf32>
  %both = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product, %wave : tensor<3x7x7x48xf32>, tensor<3x7x7x48xf32>) outs(%empty : tensor<3x7x7x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<3x7x7x48xf32>
  return %product, %wave, %both, %sum : tensor<3x7x7x48xf32>, tensor<3x7x7x48xf32>, tensor<3x7x7x48xf32>, tensor<3x7x7xf32>
}
