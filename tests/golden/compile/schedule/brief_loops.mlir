// A loop of a few turns that go element by element is one kernel on cores, however often its turns read each number; one whose
// turns read other places, or that ends when a number says so, stays a loop, and so does one over few numbers.
// RUN: baton-compile --target-device=local --cpu-levels=avx2 --compile-to=flow %s | FileCheck %s --check-prefix=FLOW
// RUN: baton-compile --target-device=local --cpu-levels=avx2 %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=turns --input=1024xi32=3 --input="5xi32=1 2 3 4 5" | FileCheck %s --check-prefix=TURNS
// RUN: baton-run-module %t.bvm --device=local-sync --function=nested --input=32x64xf32=1 | FileCheck %s --check-prefix=NESTED
// RUN: baton-run-module %t.bvm --device=local-sync --function=no_turn --input=2048xf32=7 | FileCheck %s --check-prefix=NO_TURN
// RUN: baton-run-module %t.bvm --device=local-sync --function=until --input=2048xi32=1 --input=3 | FileCheck %s --check-prefix=UNTIL
// RUN: baton-run-module %t.bvm --device=local-sync --function=shifted --input=2048xi32=1 | FileCheck %s --check-prefix=SHIFTED

// Two numbers that take turns, as Fibonacci's; what a turn adds comes from a table.
// FLOW-LABEL: util.func public @turns
// FLOW-NOT: cf.
// FLOW: flow.dispatch
// FLOW-NOT: flow.dispatch
// FLOW: util.return
// TURNS: 1024xi32=65 65
func.func @turns(%x: tensor<1024xi32>, %table: tensor<5xi32>) -> tensor<1024xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %r:3 = scf.while (%i = %c0, %a = %x, %b = %x) : (i32, tensor<1024xi32>, tensor<1024xi32>) -> (i32, tensor<1024xi32>, tensor<1024xi32>) {
    %goes_on = arith.cmpi slt, %i, %c5 : i32
    scf.condition(%goes_on) %i, %a, %b : i32, tensor<1024xi32>, tensor<1024xi32>
  } do {
  ^bb0(%i: i32, %a: tensor<1024xi32>, %b: tensor<1024xi32>):
    %at = arith.index_cast %i : i32 to index
    %one = tensor.extract %table[%at] : tensor<5xi32>
    %e = tensor.empty() : tensor<1024xi32>
    %many = linalg.fill ins(%one : i32) outs(%e : tensor<1024xi32>) -> tensor<1024xi32>
    %sum = arith.addi %a, %b : tensor<1024xi32>
    %next = arith.addi %sum, %many : tensor<1024xi32>
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %b, %next : i32, tensor<1024xi32>, tensor<1024xi32>
  }
  return %r#2 : tensor<1024xi32>
}

// FLOW-LABEL: util.func public @nested
// FLOW-NOT: cf.
// FLOW: util.return
// NESTED: 32x64xf32=[64 64
func.func @nested(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> (tensor<32x64xf32>) {
    %s = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> (tensor<32x64xf32>) {
      %t = arith.addf %b, %b : tensor<32x64xf32>
      scf.yield %t : tensor<32x64xf32>
    }
    scf.yield %s : tensor<32x64xf32>
  }
  return %r : tensor<32x64xf32>
}

// NO_TURN: 2048xf32=7 7
func.func @no_turn(%x: tensor<2048xf32>) -> tensor<2048xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c1 to %c0 step %c1 iter_args(%a = %x) -> (tensor<2048xf32>) {
    %t = arith.addf %a, %a : tensor<2048xf32>
    scf.yield %t : tensor<2048xf32>
  }
  return %r : tensor<2048xf32>
}

// What a caller says ends it, too.
// UNTIL: 2048xi32=8 8
func.func @until(%x: tensor<2048xi32>, %end: i32) -> tensor<2048xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %r:2 = scf.while (%i = %c0, %a = %x) : (i32, tensor<2048xi32>) -> (i32, tensor<2048xi32>) {
    %early = arith.cmpi slt, %i, %end : i32
    %goes_on = arith.cmpi slt, %i, %c5 : i32
    %both = arith.andi %early, %goes_on : i1
    scf.condition(%both) %i, %a : i32, tensor<2048xi32>
  } do {
  ^bb0(%i: i32, %a: tensor<2048xi32>):
    %t = arith.addi %a, %a : tensor<2048xi32>
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %t : i32, tensor<2048xi32>
  }
  return %r#1 : tensor<2048xi32>
}

// Each element and the one behind it.
// FLOW-LABEL: util.func public @shifted
// FLOW: flow.dispatch {{.*}}loop
// SHIFTED: 2048xi32=4 4
func.func @shifted(%x: tensor<2048xi32>) -> tensor<2048xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %last = arith.constant 2047 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> (tensor<2048xi32>) {
    %e = tensor.empty() : tensor<2048xi32>
    %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%a : tensor<2048xi32>) outs(%e : tensor<2048xi32>) {
    ^bb0(%v: i32, %o: i32):
      %here = linalg.index 0 : index
      %behind = arith.addi %here, %c1 : index
      %at = arith.minsi %behind, %last : index
      %w = tensor.extract %a[%at] : tensor<2048xi32>
      %s = arith.addi %v, %w : i32
      linalg.yield %s : i32
    } -> tensor<2048xi32>
    scf.yield %t : tensor<2048xi32>
  }
  return %r : tensor<2048xi32>
}
