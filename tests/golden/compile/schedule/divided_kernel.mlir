// A function for cores calls kernels, and the turns of a kernel's loop may be divided among workgroups: here two do three turns
// and two. Both results are written in their places.
// RUN: baton-compile --compile-to=flow %s | FileCheck %s --check-prefix=FLOW
// RUN: baton-compile --compile-to=flow --target-backends=cuda %s | FileCheck %s --check-prefix=BLOCKS
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-task --function=main --input=5xf32=1,2,3,4,5 | FileCheck %s --check-prefix=BOTH
// RUN: not baton-compile %S/../inputs/loop_that_is_not_divided.mlir -o %t.bvm 2>&1 | FileCheck %s --check-prefix=REFUSED

// FLOW: func.func @kernel
// FLOW: flow.dispatch.workgroup.id[0]
// BLOCKS-NOT: baton.one_kernel
// BLOCKS-NOT: scf.for
// BOTH: 5xf32=2 4 6 8 10
// BOTH: 5xf32=-1 -2 -3 -4 -5
// REFUSED: has turns that are not divided among workgroups: they count from 0 to a constant, one by one
func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %made:2 = call @anybody(%x) : (tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>)
  return %made#0, %made#1 : tensor<5xf32>, tensor<5xf32>
}

func.func private @anybody(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) attributes {baton.on_cores = @cores} {
  return %x, %x : tensor<5xf32>, tensor<5xf32>
}

func.func private @cores(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %made:2 = call @kernel(%x) : (tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>)
  return %made#0, %made#1 : tensor<5xf32>, tensor<5xf32>
}

func.func private @kernel(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) attributes {baton.one_kernel} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 5 : index
  %memory = tensor.empty() : tensor<5xf32>
  %all:2 = scf.for %i = %zero to %count step %one iter_args(%a = %memory, %b = %memory) -> (tensor<5xf32>, tensor<5xf32>) {
    %number = tensor.extract %x[%i] : tensor<5xf32>
    %twice = arith.addf %number, %number : f32
    %less = arith.negf %number : f32
    %c = tensor.insert %twice into %a[%i] : tensor<5xf32>
    %d = tensor.insert %less into %b[%i] : tensor<5xf32>
    scf.yield %c, %d : tensor<5xf32>, tensor<5xf32>
  } {baton.workgroups = 2 : i64}
  return %all#0, %all#1 : tensor<5xf32>, tensor<5xf32>
}
