// Executables: one without objects is looked up among what the host registered; an inline extern dispatch brings its own.
// RUN: baton-opt --schedule %s | FileCheck %s

// CHECK: util.initializer {
// CHECK: %[[PRIORITY:.*]] = util.buffer.constant : !util.buffer = "priority"
// CHECK: vm.call.variadic @hal.executable.create_with_launch_attributes({{.*}}, %c32_i32, %c1_i32, %c1_i32, %c0_i32, %c0_i32, %[[PRIORITY]], %c2_i64) segments([1, 1, 1])
// CHECK-NEXT: util.global.store %{{.*}}, @executable.extern_dispatch_0
// CHECK: %[[NAME:.*]] = util.buffer.constant : !util.buffer = "host_kernels"
// CHECK-NEXT: %[[ENTRY:.*]] = util.buffer.constant : !util.buffer = "twice"
// CHECK-NEXT: %[[HOST:.*]] = vm.call.variadic @hal.executable.lookup_with_entry_points(%{{.*}}, %[[NAME]], %[[ENTRY]], {{.*}}) segments([1, 0])
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
