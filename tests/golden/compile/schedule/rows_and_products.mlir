// A product whose rows a few workgroups would do joins nothing that goes along them: by itself it is divided among many.
// RUN: baton-opt --form-dispatches %s | FileCheck %s

// CHECK-LABEL: util.func public @few_rows
// CHECK-COUNT-2: flow.dispatch
// CHECK: util.return
util.func public @few_rows(%q: tensor<25x64xf32>, %k: tensor<1024x25x64xf32>) -> tensor<25xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<25x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<25x1024xf32>) -> tensor<25x1024xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(h, c, d) -> (h, d)>, affine_map<(h, c, d) -> (c, h, d)>, affine_map<(h, c, d) -> (h, c)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<25x64xf32>, tensor<1024x25x64xf32>) outs(%f : tensor<25x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<25x1024xf32>
  %scaled = linalg.generic {indexing_maps = [affine_map<(h, c) -> (h, c)>, affine_map<(h, c) -> (h, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<25x1024xf32>) outs(%e : tensor<25x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x = math.exp %a : f32
    linalg.yield %x : f32
  } -> tensor<25x1024xf32>
  %er = tensor.empty() : tensor<25xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<25xf32>) -> tensor<25xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(h, c) -> (h, c)>, affine_map<(h, c) -> (h)>], iterator_types = ["parallel", "reduction"]}
      ins(%scaled : tensor<25x1024xf32>) outs(%fr : tensor<25xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<25xf32>
  util.return %sums : tensor<25xf32>
}
