// What depends on constants only is recorded by the initializer, and a call executes it with a table: the input, the result.
// RUN: baton-opt --schedule %s | FileCheck %s

// CHECK: util.initializer {
// CHECK: %[[DEVICE:.*]] = util.call @hal.devices.get(
// CHECK: vm.call.variadic @hal.executable.load(%[[DEVICE]], %{{.*}}) segments([0, 0])
// CHECK: %[[ENTRY:.*]] = util.call @hal.executable.entry_point(
// CHECK: %[[COMMANDS:.*]] = util.call @hal.command_buffer.create(%[[DEVICE]],
// CHECK: vm.call.variadic @hal.command_buffer.dispatch(%[[COMMANDS]], {{.*}} segments([0, 2])
// CHECK-NEXT: %[[RECORDING:.*]] = util.call @hal.command_buffer.finish(%[[COMMANDS]])
// CHECK-NEXT: util.global.store %[[RECORDING]], @recording.square.0
// CHECK-NEXT: util.return

// CHECK-LABEL: util.func public @square
// CHECK-SAME: (%[[VIEW:.*]]: !hal.buffer_view)
// CHECK-NOT: tensor<
// CHECK: vm.call.variadic @hal.buffer_view.assert(%[[VIEW]], {{.*}}) segments([1])
// CHECK: %[[INPUT:.*]] = util.call @hal.buffer_view.buffer(%[[VIEW]])
// CHECK: %[[ALLOCATED:.*]] = util.call @hal.fence.create
// CHECK-NEXT: %[[RESULT:.*]] = util.call @hal.queue.allocate(
// CHECK-NEXT: util.global.load @recording.square.0
// CHECK-NEXT: %[[DONE:.*]] = util.call @hal.fence.create
// CHECK-NEXT: vm.call.variadic @hal.queue.execute(%{{.*}}, %[[ALLOCATED]], %[[DONE]], %{{.*}}, %[[INPUT]], %{{.*}}, %{{.*}}, %[[RESULT]], %{{.*}}, %{{.*}}) segments([2, 0])
// CHECK-NEXT: vm.call.variadic @hal.fence.await(%{{.*}}, %[[DONE]]) segments([1])
// CHECK-NOT: hal.queue.free
// CHECK: vm.call.variadic @hal.buffer_view.create(%[[RESULT]],
util.func public @square(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view "input0" : !hal.buffer_view -> tensor<4xf32>
  %r = util.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %out = hal.tensor.export %r "output0" : tensor<4xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}
// CHECK-NOT: @inner
util.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.mulf %x, %x : tensor<4xf32>
  util.return %r : tensor<4xf32>
}
