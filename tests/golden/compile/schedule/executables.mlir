// Executables: one without objects is looked up among what the host registered; an inline extern dispatch brings its own.
// RUN: baton-opt --schedule %s | FileCheck %s

// CHECK: vm.executable @extern_dispatch_0
// CHECK-SAME: entry_points [{attributes = [{name = "priority", value = 2 : i64}], bindings = array<i8: 1, 0>, constants = 1 : i64, launch = array<i64: 32, 1, 1, 0>, name = "thrice"}]
// CHECK-SAME: variants [{code = dense<[1, 2, 3]> : tensor<3xi8>, format = "cuda-nvptx-fb"}]
// CHECK: vm.executable @host_kernels registered "host_kernels"
// CHECK-SAME: entry_points [{bindings = array<i8: 1, 0>, constants = 0 : i64, launch = array<i64: 1, 1, 1, 0>, name = "twice"}] variants []
// CHECK: util.initializer {
// CHECK: %[[DEVICE:.*]] = util.call @hal.devices.get
// CHECK: %[[ROW:.*]] = vm.const.executable @extern_dispatch_0
// CHECK-NEXT: %[[MADE:.*]] = vm.call.variadic @hal.executable.load(%[[DEVICE]], %[[ROW]]) segments([0, 0])
// CHECK-NEXT: util.global.store %[[MADE]], @executable.extern_dispatch_0
// CHECK: %[[ROW:.*]] = vm.const.executable @host_kernels
// CHECK-NEXT: %[[HOST:.*]] = vm.call.variadic @hal.executable.load(%[[DEVICE]], %[[ROW]]) segments([0, 0])
// CHECK-NEXT: util.global.store %[[HOST]], @executable.host_kernels
// CHECK: vm.call.variadic @hal.command_buffer.dispatch({{.*}}) segments([1, 2])
// CHECK-NEXT: util.call @hal.command_buffer.barrier
// CHECK: vm.call.variadic @hal.command_buffer.dispatch({{.*}}) segments([0, 2])
// CHECK: util.return
// CHECK-NOT: hal.executable.source
// CHECK-NOT: hal.dispatch.extern
#cpu = #hal.executable.target<"cuda", "cuda-nvptx-fb">
hal.executable.source private @host_kernels {
  hal.executable.export public @twice layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
      count(%device: !hal.device, %n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %n, %c1, %c1 : index, index, index
  }
}
util.func public @run(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view "input0" : !hal.buffer_view -> tensor<4xf32>
  %four = arith.constant 4 : index
  %three = arith.constant 3 : i32
  %0 = hal.dispatch.extern "thrice"[%four](%three, %x) : (i32, tensor<4xf32>) -> tensor<4xf32>
    count(%device: !hal.device, %n: index) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %n, %one, %one : index, index, index
    }
    layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
    objects({#cpu ordinal(0) = [#hal.executable.object<{path = "thrice.so", data = dense<[1, 2, 3]> : tensor<3xi8>}>]})
    attributes {priority = 2, workgroup_size = [32 : index, 1 : index, 1 : index]}
  %1 = flow.dispatch @host_kernels::@twice[%four](%0) : (tensor<4xf32>) -> tensor<4xf32>
  %out = hal.tensor.export %1 : tensor<4xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}
