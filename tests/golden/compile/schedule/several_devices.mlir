// A program that names several devices works on each of them: arguments, work, results, constants, globals, loops, branches
// and calls are where it says, and what crosses is moved.
// RUN: baton-compile %s --cpu-levels=baseline -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=words --input=4xf32=2 --input=4xf32=3 | FileCheck %s --check-prefix=WORDS
// RUN: baton-run-module %t.bvm --device=local-task --device=local-task --function=words --input=4xf32=2 --input=4xf32=3 | FileCheck %s --check-prefix=WORDS
// WORDS: 4xf32=12 12 12 12
// WORDS: 4xf32=14 14 14 14
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=control --input=4xf32=1 --input=i32=3 | FileCheck %s --check-prefix=THREE
// THREE: 4xf32=16 16 16 16
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=control --input=4xf32=1 --input=i32=0 | FileCheck %s --check-prefix=NONE
// NONE: 4xf32=2 2 2 2
// RUN: not baton-run-module %t.bvm --device=local-sync --device=local-task --function=helped --input=3xf32=1 --input=4xf32=5 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: INVALID_ARGUMENT
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=helped --input=3xf32=1 --input=3xf32=5 | FileCheck %s --check-prefix=HELPED
// HELPED: 3xf32=8 8 8
// HELPED: 3xf32=16 16 16
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=counted --input=4xf32=1 | FileCheck %s --check-prefix=COUNTED
// COUNTED: 4xf32=2 3 4 5
// A constant that a loop begins with is made where the loop's tensor is, in rounds and behind them.
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=begun --input=i32=2 --input=1x3xi32=5 | FileCheck %s --check-prefix=BEGUN
// BEGUN: 4x3xi32=[2 2 2][2 2 2][2 2 2][2 2 2]
// BEGUN: 4x3xi32=[2 2 2][2 2 2][2 2 2][2 2 2]
// BEGUN: 4x3xi32=[5 5 5][5 5 5][2 2 2][2 2 2]
// What is called in a loop works where the loop's tensor is, which may be known only behind the call.
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=called --input=i32=3 --input=4xf32=10 | FileCheck %s --check-prefix=CALLED
// CALLED: 4xf32=33 33 33 33
// What each device does stands in recordings of its own; kernels of a device are loaded there.
// RUN: baton-compile %s --compile-to=hal --cpu-levels=baseline -o - | FileCheck %s --check-prefix=HAL
// HAL-DAG: hal.devices.find
// HAL-DAG: hal.queue.transfer
// HAL-DAG: hal.queue.take
// HAL-DAG: @executable.dispatch_groups.on.1
// A device that isn't there is named.
// RUN: not baton-run-module %t.bvm --device=local-sync --function=words --input=4xf32=2 --input=4xf32=3 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: NOT_FOUND; The program's device @b is local[1]; the devices given are: local-sync.
// RUN: sed 's/alias<"local"\[1\]>/select<[#hal.device.alias<"cuda">, #hal.device.ordinal<1>]>/' %s | baton-compile --cpu-levels=baseline --target-device=local -o %t.bvm -
// RUN: baton-run-module %t.bvm --device=local-sync --device=local-task --function=words --input=4xf32=2 --input=4xf32=3 | FileCheck %s --check-prefix=WORDS

util.global private @a = #hal.device.alias<"local"> : !hal.device
util.global private @b = #hal.device.alias<"local"[1]> : !hal.device
util.global private mutable @count {stream.affinity = #hal.device.affinity<@b>} = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>

func.func @words(%x: tensor<4xf32>, %y: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@b>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = arith.addf %x, %x : tensor<4xf32>
  %t = flow.tensor.transfer %s : tensor<4xf32> to #hal.device.affinity<@b>
  %p = arith.mulf %t, %y : tensor<4xf32>
  %q = arith.addf %p, %x {stream.affinity = #hal.device.affinity<@a>} : tensor<4xf32>
  return %p, %q : tensor<4xf32>, tensor<4xf32>
}

// The loop's tensor begins on one device and is worked on by the other in each round.
func.func @control(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant 0 : i32
  %ones = arith.constant dense<1.0> : tensor<4xf32>
  %rounds = arith.index_cast %n : i32 to index
  %twice = scf.for %i = %zero to %rounds step %one iter_args(%each = %x) -> tensor<4xf32> {
    %there = arith.addf %each, %each {stream.affinity = #hal.device.affinity<@b>} : tensor<4xf32>
    scf.yield %there : tensor<4xf32>
  }
  %any = arith.cmpi ne, %n, %none : i32
  %chosen = scf.if %any -> tensor<4xf32> {
    %moved = flow.tensor.transfer %twice : tensor<4xf32> to #hal.device.affinity<@b>
    %more = arith.addf %moved, %moved : tensor<4xf32>
    scf.yield %more : tensor<4xf32>
  } else {
    %plus = arith.addf %twice, %ones : tensor<4xf32>
    scf.yield %plus : tensor<4xf32>
  }
  return %chosen : tensor<4xf32>
}

// Works where it is called.
func.func private @help(%x: tensor<?xf32>) -> tensor<?xf32> {
  %twice = arith.addf %x, %x : tensor<?xf32>
  return %twice : tensor<?xf32>
}
func.func @helped(%x: tensor<?xf32>, %y: tensor<?xf32> {iree.abi.affinity = #hal.device.affinity<@b>}) -> (tensor<?xf32>, tensor<?xf32> {iree.abi.affinity = #hal.device.affinity<@a>}) {
  %here = call @help(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %there = call @help(%y) : (tensor<?xf32>) -> tensor<?xf32>
  %sum = arith.addf %here, %there {stream.affinity = #hal.device.affinity<@a>} : tensor<?xf32>
  %less = arith.subf %sum, %here : tensor<?xf32>
  %more = arith.addf %less, %less : tensor<?xf32>
  %four = call @help(%here) : (tensor<?xf32>) -> tensor<?xf32>
  %eight = call @help(%four) : (tensor<?xf32>) -> tensor<?xf32>
  %wanted = arith.subf %more, %four : tensor<?xf32>
  return %eight, %wanted : tensor<?xf32>, tensor<?xf32>
}

func.func @counted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %count = util.global.load @count : tensor<4xf32>
  %next = arith.addf %count, %x : tensor<4xf32>
  util.global.store %next, @count : tensor<4xf32>
  %now = util.global.load @count : tensor<4xf32>
  return %now : tensor<4xf32>
}

func.func @begun(%n: i32, %row: tensor<1x3xi32> {iree.abi.affinity = #hal.device.affinity<@b>}) -> (tensor<4x3xi32>, tensor<4x3xi32> {iree.abi.affinity = #hal.device.affinity<@b>}, tensor<4x3xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rounds = arith.index_cast %n : i32 to index
  %twos = arith.constant dense<2> : tensor<4x3xi32>
  %kept, %changed = scf.for %i = %zero to %rounds step %one iter_args(%a = %twos, %b = %twos) -> (tensor<4x3xi32>, tensor<4x3xi32>) {
    %unused = tensor.insert_slice %row into %a[%i, 0] [1, 3] [1, 1] : tensor<1x3xi32> into tensor<4x3xi32>
    %used = tensor.insert_slice %row into %b[%i, 0] [1, 3] [1, 1] : tensor<1x3xi32> into tensor<4x3xi32>
    scf.yield %a, %used : tensor<4x3xi32>, tensor<4x3xi32>
  }
  %moved = flow.tensor.transfer %kept : tensor<4x3xi32> to #hal.device.affinity<@b>
  return %kept, %moved, %changed : tensor<4x3xi32>, tensor<4x3xi32>, tensor<4x3xi32>
}

func.func private @plus(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %sum = arith.addf %x, %y : tensor<4xf32>
  return %sum : tensor<4xf32>
}
func.func @called(%n: i32, %y: tensor<4xf32> {iree.abi.affinity = #hal.device.affinity<@b>}) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rounds = arith.index_cast %n : i32 to index
  %ones = arith.constant dense<1.0> : tensor<4xf32>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %last = scf.for %i = %zero to %rounds step %one iter_args(%each = %zeros) -> tensor<4xf32> {
    %next = func.call @plus(%each, %ones) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %moved = flow.tensor.transfer %next : tensor<4xf32> to #hal.device.affinity<@b>
    %sum = arith.addf %moved, %y : tensor<4xf32>
    scf.yield %sum : tensor<4xf32>
  }
  return %last : tensor<4xf32>
}
