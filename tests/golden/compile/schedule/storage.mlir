// A caller brings the storage of a result (iree.abi.output): what is returned is that memory, with what was computed in it.
// RUN: baton-compile --compile-to=abi %s | FileCheck %s
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=add --input=4xf32=1,2,3,4 --input=4xf32=0 | FileCheck --check-prefix=SUM %s
// RUN: baton-compile --execution-model=async-external %s -o %t.fences.bvm
// RUN: baton-run-module --device=local-task --module=%t.fences.bvm --function=add --input=4xf32=1,2,3,4 --input=4xf32=0 | FileCheck --check-prefix=SUM %s
// RUN: not baton-run-module --device=local-sync --module=%t.bvm --function=add --input=4xf32=1 --input=5xf32=0 2>&1 | FileCheck --check-prefix=SHAPE %s

// CHECK: util.func public @add(%arg0: !hal.buffer_view, %[[STORAGE:.*]]: !hal.buffer_view) -> !hal.buffer_view
// CHECK: %[[HERE:.*]] = hal.tensor.alias %{{.*}} : tensor<4xf32> to %[[STORAGE]] : !hal.buffer_view
// CHECK: hal.tensor.export %[[HERE]]
// SUM: 4xf32=2 4 6 8
// SHAPE: 5xf32
func.func @add(%x: tensor<4xf32>, %out: tensor<4xf32> {iree.abi.output = 0 : index}) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
