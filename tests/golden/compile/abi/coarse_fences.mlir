// With coarse fences a function takes a wait and a signal fence last; by attribute on either kind of function, or by flag.
// RUN: baton-compile --compile-to=abi %s | FileCheck %s
// RUN: sed 's/iree.abi.model = "coarse-fences"/test.removed/' %s | baton-compile --iree-execution-model=async-external --compile-to=abi | FileCheck %s

// CHECK-DAG: util.func private @acme.async(%arg0: !hal.buffer_view, %arg1: !hal.fence, %arg2: !hal.fence) -> !hal.buffer_view
func.func private @acme.async(tensor<?xf32>) -> tensor<?xf32> attributes {iree.abi.model = "coarse-fences", nosideeffects}
// CHECK-DAG: util.func private @acme.sink(%arg0: !hal.buffer_view, %arg1: !hal.fence, %arg2: !hal.fence)
util.func private @acme.sink(tensor<?xf32>) attributes {iree.abi.model = "coarse-fences"}

// CHECK: util.func public @main(%[[VIEW:.*]]: !hal.buffer_view, %[[WAIT:.*]]: !hal.fence, %[[SIGNAL:.*]]: !hal.fence) -> !hal.buffer_view
// CHECK-SAME: iree.abi.model = "coarse-fences"
// CHECK: %[[X:.*]] = hal.tensor.import wait(%[[WAIT]]) => %[[VIEW]] "input0"
// CHECK: %[[READY:.*]] = hal.fence.create
// CHECK: %[[DONE:.*]] = hal.fence.create
// CHECK: %[[JOINED:.*]] = hal.tensor.barrier join(%[[X]] : tensor<?xf32>) => %[[READY]] : !hal.fence
// CHECK: %[[GIVEN:.*]] = hal.tensor.export %[[JOINED]]
// CHECK: %[[TAKEN:.*]] = util.call @acme.async(%[[GIVEN]], %[[READY]], %[[DONE]])
// CHECK: %[[Y:.*]] = hal.tensor.import wait(%[[DONE]]) => %[[TAKEN]]
// A call for its effects is waited for.
// CHECK: util.call @acme.sink(%{{.*}}, %{{.*}}, %[[SUNK:.*]]) :
// CHECK: hal.fence.await until([%[[SUNK]]])
// CHECK: util.call @hal.fence.check(%[[SUNK]])
// CHECK: %[[RESULT:.*]] = hal.tensor.barrier join(%[[Y]] : tensor<?xf32>) => %[[SIGNAL]] : !hal.fence
// CHECK: hal.tensor.export %[[RESULT]] "output0"
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> attributes {iree.abi.model = "coarse-fences"} {
  %y = call @acme.async(%x) : (tensor<?xf32>) -> tensor<?xf32>
  util.call @acme.sink(%y) : (tensor<?xf32>) -> ()
  return %y : tensor<?xf32>
}
