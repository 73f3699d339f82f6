// Values stand where they are wanted: arguments of calls are made in the callee's window, loops cost one branch.
// RUN: baton-compile %s | baton-dump-module | FileCheck %s
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --module=%t.bvm --function=sum --input=10 > %t.out
// RUN: baton-run-module --module=%t.bvm --function=fib --input=20 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=swap --input=1 --input=2 --input=3 >> %t.out
// RUN: FileCheck --check-prefix=RESULT %s < %t.out

// CHECK-LABEL: export func @sum(i32) -> i32 values 4 refs 0 {
// CHECK: L4:
// CHECK-NOT: move
// CHECK: trunc.i32.i64 %v3, %v1
// CHECK: add.i32 %v2, %v2, %v3
// CHECK: next.i64 %v1, %v0, L4
// CHECK-NOT: {{^  }}br
// CHECK: return.value %v2
// RESULT: result[0]: i32=45
func.func @sum(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.index_cast %n : i32 to index
  %sum = scf.for %i = %first to %count step %one iter_args(%so_far = %zero) -> i32 {
    %k = arith.index_cast %i : index to i32
    %next = arith.addi %so_far, %k : i32
    scf.yield %next : i32
  }
  return %sum : i32
}

// CHECK-LABEL: export func @fib(i32) -> i32 values 3 refs 0 {
// CHECK: br.lt.s.imm.i32 %v0, 2
// CHECK: add.imm.i32 %v1, %v0, -1
// CHECK: call @fib, %v1, %r0
// RESULT: result[0]: i32=6765
func.func @fib(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %small = arith.cmpi slt, %n, %two : i32
  %result = scf.if %small -> i32 {
    scf.yield %n : i32
  } else {
    %a = arith.subi %n, %one : i32
    %b = arith.subi %n, %two : i32
    %x = func.call @fib(%a) : (i32) -> i32
    %y = func.call @fib(%b) : (i32) -> i32
    %z = arith.addi %x, %y : i32
    scf.yield %z : i32
  }
  return %result : i32
}

// Moves that happen at once go around in a ring.
// CHECK-LABEL: export func @swap
// RESULT: result[0]: i32=2
// RESULT: result[1]: i32=1
func.func @swap(%a: i32, %b: i32, %n: index) -> (i32, i32) {
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %first to %n step %one iter_args(%x = %a, %y = %b) -> (i32, i32) {
    scf.yield %y, %x : i32, i32
  }
  return %r#0, %r#1 : i32, i32
}
