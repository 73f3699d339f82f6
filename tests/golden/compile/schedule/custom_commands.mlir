// A custom command is a call of its import in place of a dispatch: the command buffer, slot, buffer, offset and length for
// each tensor, scalars in place, results that are not tied last. Both spellings give the same.
// RUN: baton-opt --schedule %s | FileCheck %s
// RUN: baton-opt --schedule=dump-schedule %s -o %t | FileCheck %s --check-prefix=PLAN

// CHECK: util.call @acme.in_place(%[[COMMANDS:.*]], %[[SEVEN:.*]], %[[SLOT:.*]], %[[NONE:.*]], %[[BEGIN:.*]], %[[LENGTH:.*]]) : (!hal.command_buffer, i32, index, !hal.buffer, index, index) -> ()

util.func private @acme.scale(%x: tensor<?xf32>, %factor: f32) -> tensor<?xf32>
    attributes {iree.abi.streamable, iree.abi.result_dims = @scale_dims}
util.func private @scale_dims(%x: tensor<?xf32>, %factor: f32) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  util.return %n : index
}
util.func private @acme.make(%n: index) -> (tensor<?xf32> {iree.abi.dims = [0 : index]}) attributes {iree.abi.streamable}
util.func private @acme.in_place(%k: i32, %x: tensor<4xf32>) -> %x attributes {iree.abi.streamable}
flow.func private @acme.fill(%x: tensor<?xf32>, %v: i32) -> %x

// CHECK-DAG: util.func private @acme.scale(%{{.*}}: !hal.command_buffer, %{{.*}}: index, %{{.*}}: !hal.buffer, %{{.*}}: index, %{{.*}}: index, %{{.*}}: f32, %{{.*}}: index, %{{.*}}: !hal.buffer, %{{.*}}: index, %{{.*}}: index)
// CHECK-DAG: util.func private @acme.make(%{{.*}}: !hal.command_buffer, %{{.*}}: index, %{{.*}}: index, %{{.*}}: !hal.buffer, %{{.*}}: index, %{{.*}}: index)
// CHECK-DAG: util.func private @acme.fill(%{{.*}}: !hal.command_buffer, %{{.*}}: index, %{{.*}}: !hal.buffer, %{{.*}}: index, %{{.*}}: index, %{{.*}}: i32)

// PLAN-LABEL: recording run.0, recorded by calls
// PLAN: custom acme.scale r %0 w %1
// PLAN-NEXT: custom acme.make w %2
// PLAN-NEXT: barrier
// PLAN-NEXT: dispatch
// PLAN-NEXT: barrier
// PLAN-NEXT: custom acme.fill rw %3
util.func public @run(%view: !hal.buffer_view, %factor: f32, %v: i32) -> !hal.buffer_view {
  %n = hal.buffer_view.dim<%view : !hal.buffer_view>[0] : index
  %x = hal.tensor.import %view "input0" : !hal.buffer_view -> tensor<?xf32>{%n}
  %scaled = util.call @acme.scale(%x, %factor) : (tensor<?xf32>, f32) -> tensor<?xf32>
  %made = util.call @acme.make(%n) : (index) -> tensor<?xf32>
  %sum = arith.addf %scaled, %made : tensor<?xf32>
  %filled = flow.call @acme.fill(%sum, %v) : (tensor<?xf32>{%n}, i32) -> %sum{%n}
  %out = hal.tensor.export %filled : tensor<?xf32>{%n} -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// What only constants say is recorded once; the caller's tensor is not written over.
// PLAN-LABEL: recording static.0, recorded once
// PLAN: copy r %0[0 for 16] w %1[0 for 16]
// PLAN-NEXT: barrier
// PLAN-NEXT: custom acme.in_place rw %1[0 for 16]
util.func public @static(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view "input0" : !hal.buffer_view -> tensor<4xf32>
  %seven = arith.constant 7 : i32
  %r = util.call @acme.in_place(%seven, %x) : (i32, tensor<4xf32>) -> %x
  %out = hal.tensor.export %r : tensor<4xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}
