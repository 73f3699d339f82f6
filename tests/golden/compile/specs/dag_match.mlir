// An expression of a transform spec is found wherever the program has it, dynamic or static, and a call stands in its place;
// the executable and the function of the spec arrive once.
// RUN: baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/scaled_gap_spec.mlir | FileCheck %s
// RUN: baton-opt %s --iree-preprocessing-transform-spec-filename=%S/inputs/scaled_gap_spec.mlir | FileCheck %s
// RUN: baton-opt %s --pass-pipeline='builtin.module(baton-apply-specs{transform=%S/inputs/scaled_gap_spec.mlir})' | FileCheck %s
#map = affine_map<(d0) -> (d0)>

// CHECK-LABEL: module {
// CHECK-NEXT:    util.func private @dispatch_scaled_gap(
// CHECK:           flow.dispatch @gap_kernels::@x86_64::@scaled_gap
// CHECK:         hal.executable private @gap_kernels {
// CHECK-NOT:     hal.executable private
// CHECK-NOT:     util.func private

// The dynamic match: the values as they are.
// CHECK-LABEL:   util.func public @dynamic(
// CHECK-SAME:        %[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?xf32>) -> tensor<?xf32> {
// CHECK-NEXT:      %[[R:.*]] = util.call @dispatch_scaled_gap(%[[A]], %[[B]]) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:      util.return %[[R]] : tensor<?xf32>
util.func public @dynamic(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %gap = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %d = arith.subf %x, %y : f32
      %m = math.absf %d : f32
      linalg.yield %m : f32
  } -> tensor<?xf32>
  %scaled = arith.mulf %gap, %a : tensor<?xf32>
  %r = arith.negf %scaled : tensor<?xf32>
  util.return %r : tensor<?xf32>
}

// The static match, in a func.func: the shape is cast away and back.
// CHECK-LABEL:   func.func @static(
// CHECK-SAME:        %[[A:.*]]: tensor<6xf32>, %[[B:.*]]: tensor<6xf32>) -> tensor<6xf32> {
// CHECK-DAG:       %[[AD:.*]] = tensor.cast %[[A]] : tensor<6xf32> to tensor<?xf32>
// CHECK-DAG:       %[[BD:.*]] = tensor.cast %[[B]] : tensor<6xf32> to tensor<?xf32>
// CHECK:           %[[R:.*]] = util.call @dispatch_scaled_gap(%[[AD]], %[[BD]])
// CHECK-NEXT:      %[[S:.*]] = tensor.cast %[[R]] : tensor<?xf32> to tensor<6xf32>
// CHECK-NEXT:      return %[[S]] : tensor<6xf32>
func.func @static(%a: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<6xf32> {
  %empty = tensor.empty() : tensor<6xf32>
  %gap = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<6xf32>, tensor<6xf32>) outs(%empty : tensor<6xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %d = arith.subf %x, %y : f32
      %m = math.absf %d : f32
      linalg.yield %m : f32
  } -> tensor<6xf32>
  %scaled = arith.mulf %gap, %a : tensor<6xf32>
  %r = arith.negf %scaled : tensor<6xf32>
  return %r : tensor<6xf32>
}

// Nearly: the last factor is %b. It stays as it was.
// CHECK-LABEL:   util.func public @other_factor(
// CHECK-NOT:       util.call
// CHECK:           arith.negf
util.func public @other_factor(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %gap = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %d = arith.subf %x, %y : f32
      %m = math.absf %d : f32
      linalg.yield %m : f32
  } -> tensor<?xf32>
  %scaled = arith.mulf %gap, %b : tensor<?xf32>
  %r = arith.negf %scaled : tensor<?xf32>
  util.return %r : tensor<?xf32>
}
