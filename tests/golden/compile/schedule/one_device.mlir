// A program that names one device, however it says so, runs on the first that it is given.
// RUN: baton-compile %s --target-device=local -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=f --input=4xf32=2 | FileCheck %s
// RUN: sed 's/#hal.device.target<"local">/#hal.device.alias<"local"[3]>/' %s | baton-compile --target-device=local -o %t.bvm -
// RUN: baton-run-module %t.bvm --device=local-task --function=f --input=4xf32=2 | FileCheck %s
// RUN: sed 's/#hal.device.target<"local">/#hal.device.ordinal<0>/; s/promise/affinity/' %s | baton-compile --target-device=local -o %t.bvm -
// RUN: baton-run-module %t.bvm --device=local-task --function=f --input=4xf32=2 | FileCheck %s
// RUN: sed 's/#hal.device.target<"local">/#hal.device.select<[#hal.device.target<"local">, #hal.device.alias<"cuda">]>/' %s | baton-compile --target-device=local -o %t.bvm -
// RUN: baton-run-module %t.bvm --device=local-task --function=f --input=4xf32=2 | FileCheck %s
// CHECK: 4xf32=4 4 4 4
// CHECK: result[1]: hal.device

module attributes {stream.affinity.default = #hal.device.affinity<@device>} {
util.global private @device = #hal.device.target<"local"> : !hal.device
util.global private @unused = #hal.device.target<"cuda"> : !hal.device

func.func @f(%x: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@device>}) -> (tensor<4xf32>, !hal.device) {
  %there = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.promise<@device>
  %sum = arith.addf %there, %there {stream.affinity = #hal.device.affinity<@device>} : tensor<4xf32>
  %device = util.global.load @device : !hal.device
  return %sum, %device : tensor<4xf32>, !hal.device
}
}
