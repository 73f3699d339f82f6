// Functions on tensors stand in place of their calls, with the blocks that they have; those that call themselves stay functions.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync -f forks --input=4xf32=1,2,3,4 --input=1 --expected_output=4xf32=2,4,6,8
// RUN: baton-run-module %t.bvm --device=local-sync -f forks --input=4xf32=1,2,3,4 --input=0 --expected_output=4xf32=0,4,12,24
// RUN: baton-run-module %t.bvm --device=local-sync -f passes --input=4xf32=1,2,3,4 --expected_output=4xf32=2,8,18,32
// RUN: baton-run-module %t.bvm --device=local-sync -f repeats --input=3xf32=1,2,3 --input=3 --expected_output=3xf32=16,32,48
// RUN: baton-run-module %t.bvm --device=local-sync -f inside_a_loop --input=4xf32=1,2,3,4 --expected_output=4xf32=8,16,24,32
// RUN: baton-run-module %t.bvm --device=local-sync -f sum --input=13xf32=2 --expected_output=26
// RUN: baton-run-module %t.bvm --device=local-sync -f by_turns --input=4xf32=0 --input=6 --expected_output=4xf32=7
// RUN: baton-run-module %t.bvm --device=local-sync -f fibonacci --input=2xf32=1,2 --input=6 --expected_output=2xf32=13,26
// RUN: baton-compile %s --compile-to=global-optimization | FileCheck %s

// CHECK-NOT: @fork(
// CHECK-NOT: @pass(
// CHECK-NOT: @repeat(
// CHECK: util.func private @fork_in_a_loop(
// CHECK: util.func private @sum_of(
// CHECK: util.func private @even(
// CHECK: util.func private @odd(
// CHECK: util.func private @fibonacci_of(
// CHECK-LABEL: util.func public @forks(
// CHECK-NOT: util.call
// CHECK-LABEL: util.func public @passes(
// CHECK-LABEL: util.func public @fibonacci(
// CHECK-COUNT-1: util.call @fibonacci_of(
// CHECK-LABEL: util.func public @levels(
// CHECK: util.call @level_

func.func private @fork(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  cf.cond_br %p, ^twice(%x : tensor<4xf32>), ^square
^twice(%y: tensor<4xf32>):
  %sum = arith.addf %y, %y : tensor<4xf32>
  return %sum : tensor<4xf32>
^square:
  %product = arith.mulf %x, %x : tensor<4xf32>
  cf.br ^less(%product : tensor<4xf32>)
^less(%z: tensor<4xf32>):
  %less = arith.subf %z, %x : tensor<4xf32>
  return %less : tensor<4xf32>
}

// The blocks have branches only, whose operands have the types of the results.
func.func private @pass(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^first(%x : tensor<4xf32>)
^first(%y: tensor<4xf32>):
  %sum = arith.addf %y, %y : tensor<4xf32>
  cf.br ^second(%sum : tensor<4xf32>)
^second(%z: tensor<4xf32>):
  %product = arith.mulf %z, %y : tensor<4xf32>
  return %product : tensor<4xf32>
}

func.func private @repeat(%x: tensor<?xf32>, %n: i32) -> tensor<?xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%x, %zero : tensor<?xf32>, i32)
^head(%y: tensor<?xf32>, %i: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^end
^body:
  %sum = arith.addf %y, %x : tensor<?xf32>
  %next = arith.addi %i, %one : i32
  cf.br ^head(%sum, %next : tensor<?xf32>, i32)
^end:
  return %y : tensor<?xf32>
}

func.func private @fork_in_a_loop(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %c3 = arith.constant 3 : index
  %p = arith.cmpi ult, %i, %c3 : index
  cf.cond_br %p, ^twice, ^same
^twice:
  %sum = arith.addf %x, %x : tensor<4xf32>
  return %sum : tensor<4xf32>
^same:
  return %x : tensor<4xf32>
}

func.func private @sum_of(%x: tensor<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %is_one = arith.cmpi eq, %size, %c1 : index
  %result = scf.if %is_one -> f32 {
    %element = tensor.extract %x[%c0] : tensor<?xf32>
    scf.yield %element : f32
  } else {
    %half = arith.divui %size, %c2 : index
    %rest = arith.subi %size, %half : index
    %front = tensor.extract_slice %x[0] [%half] [1] : tensor<?xf32> to tensor<?xf32>
    %back = tensor.extract_slice %x[%half] [%rest] [1] : tensor<?xf32> to tensor<?xf32>
    %a = func.call @sum_of(%front) : (tensor<?xf32>) -> f32
    %b = func.call @sum_of(%back) : (tensor<?xf32>) -> f32
    %sum = arith.addf %a, %b : f32
    scf.yield %sum : f32
  }
  return %result : f32
}

func.func private @even(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.cmpi eq, %n, %zero : i32
  cf.cond_br %end, ^done(%x : tensor<4xf32>), ^more
^more:
  %less = arith.subi %n, %one : i32
  %sum = arith.addf %x, %x : tensor<4xf32>
  %result = call @odd(%sum, %less) : (tensor<4xf32>, i32) -> tensor<4xf32>
  cf.br ^done(%result : tensor<4xf32>)
^done(%y: tensor<4xf32>):
  return %y : tensor<4xf32>
}

func.func private @odd(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %one = arith.constant 1 : i32
  %ones = arith.constant dense<1.0> : tensor<4xf32>
  %less = arith.subi %n, %one : i32
  %sum = arith.addf %x, %ones : tensor<4xf32>
  %result = call @even(%sum, %less) : (tensor<4xf32>, i32) -> tensor<4xf32>
  return %result : tensor<4xf32>
}

// In place of its calls it would double with each function of the program.
func.func private @fibonacci_of(%x: tensor<2xf32>, %n: i32) -> tensor<2xf32> {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %more = arith.cmpi sgt, %n, %one : i32
  %result = scf.if %more -> tensor<2xf32> {
    %m = arith.subi %n, %one : i32
    %l = arith.subi %n, %two : i32
    %a = func.call @fibonacci_of(%x, %m) : (tensor<2xf32>, i32) -> tensor<2xf32>
    %b = func.call @fibonacci_of(%x, %l) : (tensor<2xf32>, i32) -> tensor<2xf32>
    %sum = arith.addf %a, %b : tensor<2xf32>
    scf.yield %sum : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  return %result : tensor<2xf32>
}

func.func @forks(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %true = arith.constant true
  %other = arith.xori %p, %true : i1
  %y = call @fork(%x, %other) : (tensor<4xf32>, i1) -> tensor<4xf32>
  cf.cond_br %p, ^again, ^twice
^again:
  %back = call @fork(%x, %p) : (tensor<4xf32>, i1) -> tensor<4xf32>
  return %back : tensor<4xf32>
^twice:
  %z = call @fork(%x, %p) : (tensor<4xf32>, i1) -> tensor<4xf32>
  %both = arith.addf %z, %z : tensor<4xf32>
  return %both : tensor<4xf32>
}

func.func @passes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @pass(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @repeats(%x: tensor<?xf32>, %n: i32) -> tensor<?xf32> {
  %y = call @repeat(%x, %n) : (tensor<?xf32>, i32) -> tensor<?xf32>
  %z = call @repeat(%y, %n) : (tensor<?xf32>, i32) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

func.func @inside_a_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %y = scf.for %i = %c0 to %c5 step %c1 iter_args(%z = %x) -> tensor<4xf32> {
    %w = func.call @fork_in_a_loop(%z, %i) : (tensor<4xf32>, index) -> tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

func.func @sum(%x: tensor<?xf32>) -> f32 {
  %sum = call @sum_of(%x) : (tensor<?xf32>) -> f32
  return %sum : f32
}

func.func @by_turns(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %y = call @even(%x, %n) : (tensor<4xf32>, i32) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @fibonacci(%x: tensor<2xf32>, %n: i32) -> tensor<2xf32> {
  %y = call @fibonacci_of(%x, %n) : (tensor<2xf32>, i32) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// In place of their calls these would be two million operations.
func.func private @level_0(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_1(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_1(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_1(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_2(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_2(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_2(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_3(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_3(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_3(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_4(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_4(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_4(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_5(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_5(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_5(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_6(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_6(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_6(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_7(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_7(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_7(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_8(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_8(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_8(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_9(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_9(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_9(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_10(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_10(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_10(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_11(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_11(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_11(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_12(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_12(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_12(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_13(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_13(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_13(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_14(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_14(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_14(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_15(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_15(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_15(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_16(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_16(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_16(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_17(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_17(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_17(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_18(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_18(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_18(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_19(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_19(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_19(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_20(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = call @level_20(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func private @level_20(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @levels(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @level_0(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
