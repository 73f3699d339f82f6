// Operations with several results whose memory begins alike: each keeps its own.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=from_arguments --function=from_one --function=from_computed --function=three \
// RUN:   --function=open_size --function=elementwise | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1, d0)>
#kept = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0) -> (d0)>

// A complex product of each column, from what the caller gives.
// CHECK-LABEL: EXEC @from_arguments
// CHECK: 4xf32=-19 -19 -19 -19
// CHECK: 4xf32=20.5 20.5 20.5 20.5
func.func @from_arguments() -> (tensor<4xf32>, tensor<4xf32>) {
  %x = util.unfoldable_constant dense<2.0> : tensor<4x4xf32>
  %y = util.unfoldable_constant dense<1.0> : tensor<4x4xf32>
  %i = util.unfoldable_constant dense<1.0> : tensor<4xf32>
  %j = util.unfoldable_constant dense<0.5> : tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#columns, #columns, #kept, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i, %j : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %re: f32, %im: f32):
    %0 = arith.mulf %re, %a : f32
    %1 = arith.mulf %im, %b : f32
    %2 = arith.subf %0, %1 : f32
    %3 = arith.mulf %re, %b : f32
    %4 = arith.mulf %im, %a : f32
    %5 = arith.addf %3, %4 : f32
    linalg.yield %2, %5 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// Both from the same tensor, which stays what it was.
// CHECK-LABEL: EXEC @from_one
// CHECK: 3xf32=9 9 9
// CHECK: 3xf32=16 16 16
// CHECK: 3xf32=1 1 1
func.func @from_one() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x = util.unfoldable_constant dense<2.0> : tensor<3x4xf32>
  %i = util.unfoldable_constant dense<1.0> : tensor<3xf32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #kept, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%i, %i : tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %s: f32, %p: f32):
    %0 = arith.addf %s, %a : f32
    %1 = arith.mulf %p, %a : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1, %i : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// From what two operations compute in one empty tensor.
// CHECK-LABEL: EXEC @from_computed
// CHECK: 3xf32=12 12 12
// CHECK: 3xf32=80 80 80
func.func @from_computed() -> (tensor<3xf32>, tensor<3xf32>) {
  %x = util.unfoldable_constant dense<2.0> : tensor<3x4xf32>
  %i = util.unfoldable_constant dense<4.0> : tensor<3xf32>
  %empty = tensor.empty() : tensor<3xf32>
  %same = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]} ins(%i : tensor<3xf32>) outs(%empty : tensor<3xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.negf %a : f32
    %1 = math.absf %0 : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  %more = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]} ins(%i : tensor<3xf32>) outs(%empty : tensor<3xf32>) {
  ^bb0(%a: f32, %out: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.addf %a, %one : f32
    linalg.yield %0 : f32
  } -> tensor<3xf32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #kept, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%same, %more : tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %s: f32, %p: f32):
    %0 = arith.addf %s, %a : f32
    %1 = arith.mulf %p, %a : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: EXEC @three
// CHECK: 3xf32=9 9 9
// CHECK: 3xf32=48 48 48
// CHECK: 3xf32=5 5 5
func.func @three() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x = util.unfoldable_constant dense<2.0> : tensor<3x4xf32>
  %i = util.unfoldable_constant dense<1.0> : tensor<3xf32>
  %j = util.unfoldable_constant dense<3.0> : tensor<3xf32>
  %k = util.unfoldable_constant dense<5.0> : tensor<3xf32>
  %r:3 = linalg.generic {indexing_maps = [#rows, #kept, #kept, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%i, %j, %k : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %s: f32, %p: f32, %m: f32):
    %0 = arith.addf %s, %a : f32
    %1 = arith.mulf %p, %a : f32
    %2 = arith.maximumf %m, %a : f32
    linalg.yield %0, %1, %2 : f32, f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1, %r#2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

func.func private @reduced(%x: tensor<?x?xf32>, %i: tensor<?xf32>, %j: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #kept, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%i, %j : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%a: f32, %s: f32, %p: f32):
    %0 = arith.addf %s, %a : f32
    %1 = arith.mulf %p, %a : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
// CHECK-LABEL: EXEC @open_size
// CHECK: 3xf32=9 9 9
// CHECK: 3xf32=48 48 48
func.func @open_size() -> (tensor<?xf32>, tensor<?xf32>) {
  %x = util.unfoldable_constant dense<2.0> : tensor<3x4xf32>
  %i = util.unfoldable_constant dense<1.0> : tensor<3xf32>
  %j = util.unfoldable_constant dense<3.0> : tensor<3xf32>
  %xd = tensor.cast %x : tensor<3x4xf32> to tensor<?x?xf32>
  %id = tensor.cast %i : tensor<3xf32> to tensor<?xf32>
  %jd = tensor.cast %j : tensor<3xf32> to tensor<?xf32>
  %r:2 = call @reduced(%xd, %id, %jd) : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: EXEC @elementwise
// CHECK: 3xf32=5 5 5
// CHECK: 3xf32=6 6 6
func.func @elementwise() -> (tensor<3xf32>, tensor<3xf32>) {
  %x = util.unfoldable_constant dense<2.0> : tensor<3xf32>
  %j = util.unfoldable_constant dense<3.0> : tensor<3xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]}
      ins(%x : tensor<3xf32>) outs(%j, %j : tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %s: f32, %p: f32):
    %0 = arith.addf %s, %a : f32
    %1 = arith.mulf %p, %a : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xf32>
}
