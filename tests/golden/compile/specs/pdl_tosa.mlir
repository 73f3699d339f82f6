// A pattern over tosa's operations with a native constraint: f32 matches, integers don't. Static sizes need no index arguments,
// and two shapes get two executables.
// RUN: baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/tosa_layer_spec.pdl.mlir | FileCheck %s
// RUN: baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/tosa_layer_spec.pdl.mlir --verbose-specs 2>&1 | FileCheck %s --check-prefix=VERBOSE

// CHECK-LABEL:   stream.executable private @layer_f32_f32_f32_i1_executable_0 {
// CHECK:             func.func @layer_entry_point(%{{.*}}: !stream.binding, %{{.*}}: !stream.binding, %{{.*}}: !stream.binding, %{{.*}}: i1) {
// CHECK:               -> memref<1x2x4xf32, strided<[8, 4, 1], offset: ?>>
// CHECK:               -> memref<1x4x8xf32, strided<[32, 8, 1], offset: ?>>
// CHECK:               -> memref<1x2x8xf32, strided<[16, 8, 1], offset: ?>>
// CHECK-LABEL:   stream.executable private @layer_f32_f32_f32_i1_executable {
// CHECK:               -> memref<1x3x4xf32, strided<[12, 4, 1], offset: ?>>
// CHECK-LABEL:   func.func @main(
// CHECK-SAME:        %[[A:[a-z0-9]+]]: tensor<2x4xf32>, %[[B:[a-z0-9]+]]: tensor<1x4x8xf32>, %[[C:[a-z0-9]+]]: tensor<1x3x4xf32>)
// CHECK:           %[[X:.*]] = tosa.reshape %[[A]]
// CHECK-NOT:       tosa.matmul
// CHECK-NOT:       tosa.clamp
// CHECK:           %[[R:.*]] = flow.dispatch @layer_f32_f32_f32_i1_executable_0::@layer_entry_point(%[[X]], %[[B]], %true) : (tensor<1x2x4xf32>, tensor<1x4x8xf32>, i1) -> tensor<1x2x8xf32>
// CHECK:           flow.dispatch @layer_f32_f32_f32_i1_executable::@layer_entry_point(%[[C]], %[[B]], %true) : (tensor<1x3x4xf32>, tensor<1x4x8xf32>, i1) -> tensor<1x3x8xf32>
// CHECK:           tosa.negate
func.func @main(%a: tensor<2x4xf32>, %b: tensor<1x4x8xf32>, %c: tensor<1x3x4xf32>) -> (tensor<1x2x8xf32>, tensor<1x3x8xf32>) {
  %s = tosa.const_shape {values = dense<[1, 2, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %x = tosa.reshape %a, %s : (tensor<2x4xf32>, !tosa.shape<3>) -> tensor<1x2x4xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %m = tosa.matmul %x, %b, %z, %z : (tensor<1x2x4xf32>, tensor<1x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
  %r = tosa.clamp %m {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %n = tosa.matmul %c, %b, %z, %z : (tensor<1x3x4xf32>, tensor<1x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x8xf32>
  %q = tosa.clamp %n {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  %t = tosa.negate %r, %z, %z : (tensor<1x2x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
  return %t, %q : tensor<1x2x8xf32>, tensor<1x3x8xf32>
}

// CHECK-LABEL:   func.func @integers(
// CHECK:           tosa.matmul
// CHECK:           tosa.clamp
// VERBOSE:       pdl_tosa.mlir:[[# @LINE + 6]]:8: remark: The spec does not match this tosa.clamp.
// VERBOSE:       pdl_tosa.mlir:[[# @LINE + 5]]:8: note: Attribute 'min_val' of tosa.clamp is 0 : i8 where the spec has 0.000000e+00 : f32.
// VERBOSE:       tosa_layer_spec.pdl.mlir:18:15: note: The spec has this.
func.func @integers(%a: tensor<1x2x4xi8>, %b: tensor<1x4x8xi8>) -> tensor<1x2x8xi8> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = tosa.matmul %a, %b, %z, %z : (tensor<1x2x4xi8>, tensor<1x4x8xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x8xi8>
  %r = tosa.clamp %m {min_val = 0 : i8, max_val = 9 : i8} : (tensor<1x2x8xi8>) -> tensor<1x2x8xi8>
  return %r : tensor<1x2x8xi8>
}
