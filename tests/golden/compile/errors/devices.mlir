// What a program says of devices is done or refused, never left out.
// RUN: baton-compile %s --target-device=local -o %t.bvm
// RUN: sed 's/to #hal.device.affinity<@a>/to #hal.device.affinity<@nowhere>/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: is on @nowhere, which is no global of the type !hal.device
// RUN: sed 's/to #hal.device.affinity<@a>/to #hal.device.affinity<@a, [1]>/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=QUEUES
// QUEUES: chooses queues of a device
// RUN: sed 's/to #hal.device.affinity<@a>/to "a"/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: goes to "a", which is no #hal.device.affinity
// RUN: sed 's/= arith.mulf %moved, %moved/& {stream.affinity = "a"}/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=STRING
// STRING: says stream.affinity = "a", which is no #hal.device.affinity
// Of several devices each word has to have a use.
// RUN: sed 's/arith.addi %n, %n/& {stream.affinity = #hal.device.affinity<@b>}/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: 'arith.addi' op says a device and has no tensors: it runs on the host
// RUN: sed 's/%n: i32/& {iree.abi.affinity = #hal.device.affinity<@b>}/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: says a device of something that is no tensor
// RUN: sed 's/linalg.yield %r/%again = arith.addf %r, %r {stream.affinity = #hal.device.affinity<@b>} : f32 linalg.yield %again/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: 'arith.addf' op says a device and has no tensors
// RUN: sed 's/= #hal.device.target<"local", {ordinal = 1 : i64}>//; s/to #hal.device.affinity<@a>/to #hal.device.affinity<@b>/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=UNSAID
// UNSAID: doesn't say which device it is, and the program works on several
// RUN: sed 's/#hal.device.target<"local", {ordinal = 1 : i64}>/#hal.device.select<["x"]>/; s/to #hal.device.affinity<@a>/to #hal.device.affinity<@b>/' %s | not baton-compile -o %t.bvm - 2>&1 | FileCheck %s --check-prefix=UNSAID

#map = affine_map<(d0) -> (d0)>
util.global private @a = #hal.device.target<"local"> : !hal.device
util.global private @b = #hal.device.target<"local", {ordinal = 1 : i64}> : !hal.device
func.func @f(%x: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@a>}, %n: i32) -> (tensor<4xf32>, !hal.device, i32) {
  %moved = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.affinity<@a>
  %d = util.global.load @a : !hal.device
  %square = arith.mulf %moved, %moved : tensor<4xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %twice = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%square : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %in : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %m = arith.addi %n, %n : i32
  return %twice, %d, %m : tensor<4xf32>, !hal.device, i32
}
