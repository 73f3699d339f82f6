// What a program says of devices is done or refused, never left out.
// RUN: baton-compile %s --target-device=local -o %t.bvm
// RUN: sed 's/to #hal.device.affinity<@a>/to #hal.device.affinity<@b>/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=TRANSFER
// TRANSFER: 'util.global.load' op is on @a, and other work on @b; a compiled program works on one device
// RUN: sed 's/abi.affinity = #hal.device.promise<@a>/abi.affinity = #hal.device.promise<@b>/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: a compiled program works on one device
// RUN: sed 's/= arith.mulf %moved, %moved/& {stream.affinity = #hal.device.affinity<@b>}/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=WORK
// WORK: 'arith.mulf' op is on @b, and other work on @a
// RUN: sed 's/global.load @a/global.load @b/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=LOAD
// LOAD: 'util.global.load' op is on @b, and other work on @a
// RUN: sed 's/to #hal.device.affinity<@a>/to #hal.device.affinity<@nowhere>/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: is on @nowhere, which is no global of the type !hal.device
// RUN: sed 's/to #hal.device.affinity<@a>/to #hal.device.affinity<@a, [1]>/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=QUEUES
// QUEUES: chooses queues of a device
// RUN: sed 's/to #hal.device.affinity<@a>/to "a"/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: goes to "a", which is no #hal.device.affinity
// RUN: sed 's/= arith.mulf %moved, %moved/& {stream.affinity = "a"}/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=STRING
// STRING: says stream.affinity = "a", which is no #hal.device.affinity

util.global private @a = #hal.device.target<"local"> : !hal.device
util.global private @b = #hal.device.target<"local", {ordinal = 1 : i64}> : !hal.device
func.func @f(%x: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@a>}) -> (tensor<4xf32>, !hal.device) {
  %moved = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.affinity<@a>
  %d = util.global.load @a : !hal.device
  %square = arith.mulf %moved, %moved : tensor<4xf32>
  return %square, %d : tensor<4xf32>, !hal.device
}
