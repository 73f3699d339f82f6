// Tensors cross as buffer views. An export keeps its body in place; one that is called from inside leaves a copy.
// RUN: baton-compile --compile-to=abi %s | FileCheck %s

// CHECK: util.func private @acme.conv(%arg0: !hal.buffer_view, %arg1: i32) -> !hal.buffer_view
func.func private @acme.conv(tensor<?xf32>, i32) -> tensor<?xf32>

// CHECK-LABEL: util.func public @main(
// CHECK-SAME: %[[VIEW:.*]]: !hal.buffer_view, %[[K:.*]]: i32) -> !hal.buffer_view
// CHECK-SAME: iree.abi.declaration = "sync func @main(%input0: tensor<?x4xf32>, %input1: i32) -> (%output0: tensor<?xf32>)"
// CHECK: %[[ROWS:.*]] = hal.buffer_view.dim<%[[VIEW]] : !hal.buffer_view>[0] : index
// CHECK: %[[X:.*]] = hal.tensor.import %[[VIEW]] "input0" : !hal.buffer_view -> tensor<?x4xf32>{%[[ROWS]]}
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[X]]
// CHECK: %[[GIVEN:.*]] = hal.tensor.export %[[FLAT]] : tensor<?xf32>{%{{.*}}} -> !hal.buffer_view
// CHECK: %[[TAKEN:.*]] = util.call @acme.conv(%[[GIVEN]], %[[K]]) : (!hal.buffer_view, i32) -> !hal.buffer_view
// CHECK: %[[SIZE:.*]] = hal.buffer_view.dim<%[[TAKEN]] : !hal.buffer_view>[0] : index
// CHECK: %[[Y:.*]] = hal.tensor.import %[[TAKEN]] : !hal.buffer_view -> tensor<?xf32>{%[[SIZE]]}
// CHECK: hal.tensor.export %[[Y]] "output0" : tensor<?xf32>{%[[SIZE]]} -> !hal.buffer_view
func.func @main(%x: tensor<?x4xf32>, %k: i32) -> tensor<?xf32> {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %y = call @acme.conv(%flat, %k) : (tensor<?xf32>, i32) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// CHECK-LABEL: util.func public @called(
// CHECK-SAME: !hal.buffer_view
// CHECK-LABEL: util.func private @_called(
// CHECK-SAME: tensor<4xf32>) -> tensor<4xf32>
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.negf %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: util.func public @caller(
// CHECK: util.call @_called(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Scalars and references cross as they are.
// CHECK-LABEL: util.func public @scalars(%arg0: i32, %arg1: !custom.thing) -> !custom.thing
func.func @scalars(%a: i32, %b: !custom.thing) -> !custom.thing {
  return %b : !custom.thing
}
