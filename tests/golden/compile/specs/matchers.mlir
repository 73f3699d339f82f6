// Matchers of types, sizes and regions, and a call that the spec makes in the terms of func: the functions of a program are found
// and called under either name.
// RUN: baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/largest_spec.mlir | FileCheck %s
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>

// CHECK:         func.func private @largest(
// CHECK:           hal.dispatch.extern "main"
// CHECK-LABEL:   util.func public @match(
// CHECK-SAME:        %[[X:.*]]: tensor<1x96xf32>
// CHECK:           %[[D:.*]] = tensor.cast %[[X]] : tensor<1x96xf32> to tensor<1x?xf32>
// CHECK:           %[[R:.*]] = func.call @largest(%[[D]]) : (tensor<1x?xf32>) -> tensor<1xi32>
// CHECK-NEXT:      util.return %[[R]] : tensor<1xi32>
util.func public @match(%x: tensor<1x96xf32>, %v: tensor<1xf32>, %i: tensor<1xi32>) -> tensor<1xi32> {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x96xf32>) outs(%v, %i : tensor<1xf32>, tensor<1xi32>) {
    ^bb0(%e: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %j32 = arith.index_cast %j : index to i32
      %max = arith.maximumf %e, %best : f32
      %more = arith.cmpf ogt, %e, %best : f32
      %where = arith.select %more, %j32, %at : i32
      linalg.yield %max, %where : f32, i32
  } -> (tensor<1xf32>, tensor<1xi32>)
  util.return %r#1 : tensor<1xi32>
}

// A length that is no multiple of 32.
// CHECK-LABEL:   util.func public @length(
// CHECK-NOT:       call
// CHECK:           linalg.generic
util.func public @length(%x: tensor<1x97xf32>, %v: tensor<1xf32>, %i: tensor<1xi32>) -> tensor<1xi32> {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x97xf32>) outs(%v, %i : tensor<1xf32>, tensor<1xi32>) {
    ^bb0(%e: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %j32 = arith.index_cast %j : index to i32
      %max = arith.maximumf %e, %best : f32
      %more = arith.cmpf ogt, %e, %best : f32
      %where = arith.select %more, %j32, %at : i32
      linalg.yield %max, %where : f32, i32
  } -> (tensor<1xf32>, tensor<1xi32>)
  util.return %r#1 : tensor<1xi32>
}

// A length that is known to be a multiple of 32, though not which one.
// CHECK-LABEL:   util.func public @proved(
// CHECK:           func.call @largest
util.func public @proved(%n: index, %v: tensor<1xf32>, %i: tensor<1xi32>) -> tensor<1xi32> {
  %c64 = arith.constant 64 : index
  %m = arith.muli %n, %c64 : index
  %x = tensor.empty(%m) : tensor<1x?xf32>
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x?xf32>) outs(%v, %i : tensor<1xf32>, tensor<1xi32>) {
    ^bb0(%e: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %j32 = arith.index_cast %j : index to i32
      %max = arith.maximumf %e, %best : f32
      %more = arith.cmpf ogt, %e, %best : f32
      %where = arith.select %more, %j32, %at : i32
      linalg.yield %max, %where : f32, i32
  } -> (tensor<1xf32>, tensor<1xi32>)
  util.return %r#1 : tensor<1xi32>
}

// The smallest, not the largest.
// CHECK-LABEL:   util.func public @region(
// CHECK-NOT:       call
// CHECK:           arith.minimumf
util.func public @region(%x: tensor<1x96xf32>, %v: tensor<1xf32>, %i: tensor<1xi32>) -> tensor<1xi32> {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x96xf32>) outs(%v, %i : tensor<1xf32>, tensor<1xi32>) {
    ^bb0(%e: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %j32 = arith.index_cast %j : index to i32
      %min = arith.minimumf %e, %best : f32
      %less = arith.cmpf olt, %e, %best : f32
      %where = arith.select %less, %j32, %at : i32
      linalg.yield %min, %where : f32, i32
  } -> (tensor<1xf32>, tensor<1xi32>)
  util.return %r#1 : tensor<1xi32>
}
