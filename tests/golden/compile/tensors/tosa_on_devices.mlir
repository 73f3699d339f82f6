// Operations of tosa say devices like others, though they are lowered first of all; a program that was placed compiles on.
// RUN: baton-compile %s --cpu-levels=baseline -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=f --input=4xf32=2 | FileCheck %s
// RUN: baton-compile %s --compile-to=input -o %t.mlir
// RUN: FileCheck %s --check-prefix=INPUT --input-file=%t.mlir
// RUN: baton-compile %t.mlir --cpu-levels=baseline -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=f --input=4xf32=2 | FileCheck %s
// CHECK: 4xf32=8 8 8 8
// INPUT: flow.tensor.transfer %{{.*}} to #hal.device.affinity<@b>
// INPUT: arith.addf
// INPUT: flow.tensor.transfer %{{.*}} to #hal.device.affinity<@a>
// RUN: sed 's/"local\[1\]"/1/' %t.mlir | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: and each of it is the name of a global, what the device is, and its targets

util.global private @a = #hal.device.alias<"local"> : !hal.device
util.global private @b = #hal.device.alias<"local"[1]> : !hal.device
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %there = tosa.add %x, %x {stream.affinity = #hal.device.affinity<@b>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %here = tosa.add %there, %there {stream.affinity = #hal.device.affinity<@a>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %here : tensor<4xf32>
}
