// Branches, tables, loops that end by a condition, asserts.
// RUN: baton-compile %s -o %t.bvm && baton-dump-module %t.bvm | FileCheck --check-prefix=CODE %s
// RUN: baton-run-module --module=%t.bvm --function=table --input=2 > %t.out
// RUN: baton-run-module --module=%t.bvm --function=table --input=7 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=sparse --input=1000000 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=sparse --input=3 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=collatz --input=27 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=nested --input=4 >> %t.out
// RUN: baton-run-module --module=%t.bvm --function=pick --input=0 >> %t.out
// RUN: FileCheck %s < %t.out
// RUN: not baton-run-module --module=%t.bvm --function=checked --input=-1 2>&1 | FileCheck --check-prefix=ASSERT %s

// CODE-LABEL: export func @table
// CODE: br.table
// CHECK: EXEC @table
// CHECK-NEXT: i32=12
// CHECK: EXEC @table
// CHECK-NEXT: i32=99
func.func @table(%i: i32) -> i32 {
  cf.switch %i : i32, [default: ^other, 0: ^a, 1: ^b, 2: ^c]
^a:
  %x = arith.constant 10 : i32
  return %x : i32
^b:
  %y = arith.constant 11 : i32
  return %y : i32
^c:
  %z = arith.constant 12 : i32
  return %z : i32
^other:
  %w = arith.constant 99 : i32
  return %w : i32
}

// CODE-LABEL: export func @sparse
// CODE-NOT: br.table
// CODE: br.ne.i32
// CHECK: EXEC @sparse
// CHECK-NEXT: i32=1
// CHECK: EXEC @sparse
// CHECK-NEXT: i32=2
func.func @sparse(%i: i32) -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  cf.switch %i : i32, [default: ^end(%two : i32), 1000000: ^end(%one : i32), -5: ^end(%i : i32)]
^end(%r: i32):
  return %r : i32
}

// CHECK: EXEC @collatz
// CHECK-NEXT: i64=111
func.func @collatz(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %result:2 = scf.while (%value = %n, %steps = %zero) : (i64, i64) -> (i64, i64) {
    %more = arith.cmpi ne, %value, %one : i64
    scf.condition(%more) %value, %steps : i64, i64
  } do {
  ^bb0(%value: i64, %steps: i64):
    %rest = arith.remui %value, %two : i64
    %is_odd = arith.cmpi eq, %rest, %one : i64
    %next = scf.if %is_odd -> i64 {
      %tripled = arith.muli %value, %three : i64
      %plus = arith.addi %tripled, %one : i64
      scf.yield %plus : i64
    } else {
      %half = arith.divui %value, %two : i64
      scf.yield %half : i64
    }
    %count = arith.addi %steps, %one : i64
    scf.yield %next, %count : i64, i64
  }
  return %result#1 : i64
}

// CHECK: EXEC @nested
// CHECK-NEXT: i64=36
func.func @nested(%n: index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%outer = %zero) -> index {
    %row = scf.for %j = %zero to %n step %one iter_args(%inner = %outer) -> index {
      %product = arith.muli %i, %j : index
      %next = arith.addi %inner, %product : index
      scf.yield %next : index
    }
    scf.yield %row : index
  }
  return %sum : index
}

// CHECK: EXEC @pick
// CHECK-NEXT: i32=4
// CHECK-NEXT: blob (5 bytes)
func.func @pick(%c: i1) -> (i32, !util.buffer) {
  %three = arith.constant 3 : i32
  %four = arith.constant 4 : i32
  %short = util.buffer.constant : !util.buffer = "short"
  %long = util.buffer.constant : !util.buffer = "a long one"
  %number = arith.select %c, %three, %four : i32
  %text = arith.select %c, %long, %short : !util.buffer
  return %number, %text : i32, !util.buffer
}

// ASSERT: FAILED_PRECONDITION; a size is not negative
// ASSERT-NEXT: at module.checked, word {{[0-9]+}} ({{.*}}control.mlir:[[# @LINE + 4]]:3)
func.func @checked(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %ok = arith.cmpi sge, %n, %zero : i32
  cf.assert %ok, "a size is not negative"
  return %n : i32
}
