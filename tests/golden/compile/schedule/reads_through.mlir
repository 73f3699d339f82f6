// Reductions whose bodies yield what they are given, or several results: none is a product, and none stops the compiler.
// RUN: baton-compile --target-device=local %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=last --input="4xf32=1 2 3 4" | FileCheck %s --check-prefix=LAST
// LAST: f32=4
func.func @last(%x: tensor<4xf32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %doubled = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%doubled : tensor<4xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// RUN: baton-run-module %t.bvm --device=local-sync --function=sizes --input="4xf32=1 -2 3 -4" | FileCheck %s --check-prefix=SIZES
// SIZES: f32=10
func.func @sizes(%x: tensor<4xf32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %n = linalg.negf ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x, %n : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = math.absf %b : f32
      %t = arith.addf %o, %s : f32
      linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Two sums that begin alike have memory of their own.
// RUN: baton-run-module %t.bvm --device=local-sync --function=two_sums --input="4xf32=1 2 3 4" | FileCheck %s --check-prefix=TWO
// TWO: f32=10
// TWO: f32=30
func.func @two_sums(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  %e = tensor.empty() : tensor<f32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf32>) outs(%f, %f : tensor<f32>, tensor<f32>) {
    ^bb0(%a: f32, %o: f32, %p: f32):
      %s = arith.addf %o, %a : f32
      %q = arith.mulf %a, %a : f32
      %t = arith.addf %p, %q : f32
      linalg.yield %s, %t : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// The larger of halves, where a processor has no instruction for halves.
// RUN: baton-run-module %t.bvm --device=local-sync --function=argmax --input="2x3xf16=1 5 2 9 7 9" | FileCheck %s --check-prefix=ARGMAX
// ARGMAX: 2xi32=1 0
func.func @argmax(%x: tensor<2x3xf16>) -> tensor<2xi32> {
  %z = arith.constant 0 : i32
  %m = arith.constant -6.0e+04 : f16
  %a = tensor.empty() : tensor<2xf16>
  %b = tensor.empty() : tensor<2xi32>
  %fa = linalg.fill ins(%m : f16) outs(%a : tensor<2xf16>) -> tensor<2xf16>
  %fb = linalg.fill ins(%z : i32) outs(%b : tensor<2xi32>) -> tensor<2xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf16>) outs(%fa, %fb : tensor<2xf16>, tensor<2xi32>) {
    ^bb0(%v: f16, %best: f16, %where: i32):
      %i = linalg.index 1 : index
      %p = arith.index_cast %i : index to i32
      %more = arith.cmpf ogt, %v, %best : f16
      %w = arith.select %more, %v, %best : f16
      %q = arith.select %more, %p, %where : i32
      linalg.yield %w, %q : f16, i32
  } -> (tensor<2xf16>, tensor<2xi32>)
  return %r#1 : tensor<2xi32>
}
