// Regions are compared operation by operation, and what they take from outside must be what the spec takes: a constant by its
// value.
// RUN: baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/relu_spec.mlir --verbose-specs -o %t.out 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=OUT --input-file=%t.out
#map = affine_map<(d0) -> (d0)>

// CHECK:     regions.mlir:[[# @LINE + 6]]:8: remark: The spec matches here.
// OUT-LABEL: func.func @same(
// OUT-NEXT:    %[[R:.*]] = util.call @relu(%arg0, %arg1) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
// OUT-NEXT:    return %[[R]]
func.func @same(%x: tensor<?xf32>, %into: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%into : tensor<?xf32>) {
    ^bb0(%e: f32, %out: f32):
      %m = arith.maximumf %e, %zero : f32
      linalg.yield %m : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK:     note: Attribute 'value' of arith.constant is 1.000000e+00 : f32 where the spec has 0.000000e+00 : f32.
func.func @other_constant(%x: tensor<?xf32>, %into: tensor<?xf32>) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%into : tensor<?xf32>) {
    ^bb0(%e: f32, %out: f32):
      %m = arith.maximumf %e, %one : f32
      linalg.yield %m : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK:     note: arith.minimumf stands where the spec has arith.maximumf.
func.func @other_operation(%x: tensor<?xf32>, %into: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%into : tensor<?xf32>) {
    ^bb0(%e: f32, %out: f32):
      %m = arith.minimumf %e, %zero : f32
      linalg.yield %m : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK:     note: Operand 0 of linalg.yield is argument 0 of its block where the spec uses result 0 of arith.maximumf again.
func.func @other_use(%x: tensor<?xf32>, %into: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%into : tensor<?xf32>) {
    ^bb0(%e: f32, %out: f32):
      %m = arith.maximumf %e, %zero : f32
      linalg.yield %e : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK:     note: linalg.generic has 3 operands where the spec has 2.
func.func @operands(%x: tensor<?xf32>, %into: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%into : tensor<?xf32>) {
    ^bb0(%e: f32, %f: f32, %out: f32):
      %m = arith.maximumf %e, %zero : f32
      linalg.yield %m : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
