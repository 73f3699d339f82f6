// Loops that carry a tensor and update a part of it do so in place, where nobody else sees the tensor: no turn copies it
// whole. One that begins with what others see begins with a copy.
// Checked accesses keep these loops on the host, where small ones would be kernels (loop_kernels.test).
// RUN: baton-compile %s --sanitize --dump-schedule | FileCheck %s
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-task --function=stack --input=2xf32=1,2 | FileCheck %s --check-prefix=STACK
// RUN: baton-run-module %t.bvm --device=local-task --function=lent --input=3x2xf32=1,2,3,4,5,6 | FileCheck %s --check-prefix=LENT
// RUN: baton-run-module %t.bvm --device=local-task --function=twice --input=2xf32=1,2 | FileCheck %s --check-prefix=TWICE
// RUN: baton-run-module %t.bvm --device=local-task --function=swapped --input=2xf32=1,2 | FileCheck %s --check-prefix=SWAPPED
// RUN: baton-run-module %t.bvm --device=local-task --function=sometimes --input=2xf32=1,2 | FileCheck %s --check-prefix=SOMETIMES
// RUN: baton-run-module %t.bvm --device=local-task --function=read_before --input=2xf32=1,2 | FileCheck %s --check-prefix=BEFORE

// Each turn copies a row.
// CHECK-LABEL: recording stack.1,
// CHECK-COUNT-1: copy r {{.*}}[{{.*}} for 8] w {{.*}}[? for 8]
// CHECK-NOT: copy
// STACK: 3x2xf32=[1 2][2 4][4 8]
func.func @stack(%row: tensor<2xf32>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %empty = tensor.empty() : tensor<3x2xf32>
  %rows = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %all:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %row, %y = %rows) -> (tensor<2xf32>, tensor<3x2xf32>) {
    %more = arith.addf %x, %x : tensor<2xf32>
    %stacked = tensor.insert_slice %x into %y[%i, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x2xf32>
    scf.yield %more, %stacked : tensor<2xf32>, tensor<3x2xf32>
  }
  return %all#1 : tensor<3x2xf32>
}

// The caller's tensor is copied once, before the loop, and stays what it was.
// CHECK-LABEL: recording lent.0,
// CHECK: copy r {{.*}}[0 for 24] w {{.*}}[0 for 24]
// CHECK-LABEL: recording lent.2,
// CHECK-NOT: for 24
// CHECK: copy r {{.*}}[0 for 8] w {{.*}}[? for 8]
// CHECK-LABEL: recording twice.0,
// LENT: 3x2xf32=[1 2][1 2][1 2]
// LENT: 3x2xf32=[2 4][4 6][6 8]
func.func @lent(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %done = scf.for %i = %c0 to %c2 step %c1 iter_args(%y = %x) -> (tensor<3x2xf32>) {
    %next = arith.addi %i, %c1 : index
    %row = tensor.extract_slice %x[0, 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<2xf32>
    %stacked = tensor.insert_slice %row into %y[%next, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x2xf32>
    scf.yield %stacked : tensor<3x2xf32>
  }
  %sum = arith.addf %x, %done : tensor<3x2xf32>
  return %done, %sum : tensor<3x2xf32>, tensor<3x2xf32>
}

// Two names for one tensor: an update of one must not change the other.
// TWICE: 3x2xf32=[1 2][0 0][0 0]
// TWICE: 3x2xf32=[0 0][0 0][1 2]
func.func @twice(%row: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %empty = tensor.empty() : tensor<3x2xf32>
  %rows = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %all:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %rows, %y = %rows) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
    %first = tensor.insert_slice %row into %x[0, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x2xf32>
    %last = tensor.insert_slice %row into %y[2, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x2xf32>
    scf.yield %first, %last : tensor<3x2xf32>, tensor<3x2xf32>
  }
  return %all#0, %all#1 : tensor<3x2xf32>, tensor<3x2xf32>
}

// Two tensors that change their places each turn stay two: neither is copied.
// CHECK-LABEL: recording swapped.1,
// CHECK-COUNT-1: copy r {{.*}}[{{.*}} for 8] w {{.*}}[? for 8]
// CHECK-NOT: copy
// CHECK-LABEL: recording sometimes.0,
// SWAPPED: 3x2xf32=[7 7][1 2][7 7]
// SWAPPED: 3x2xf32=[1 2][0 0][1 2]
func.func @swapped(%row: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %empty = tensor.empty() : tensor<3x2xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %sevens = linalg.fill ins(%seven : f32) outs(%empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %all:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %zeros, %y = %sevens) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
    %changed = tensor.insert_slice %row into %x[%i, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x2xf32>
    scf.yield %y, %changed : tensor<3x2xf32>, tensor<3x2xf32>
  }
  return %all#0, %all#1 : tensor<3x2xf32>, tensor<3x2xf32>
}

// An update in a branch.
// CHECK-LABEL: recording sometimes.1,
// CHECK-NOT: for 24
// CHECK-LABEL: recording read_before.0,
// SOMETIMES: 3x2xf32=[1 2][0 0][1 2]
func.func @sometimes(%row: tensor<2xf32>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %empty = tensor.empty() : tensor<3x2xf32>
  %rows = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %all = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %rows) -> (tensor<3x2xf32>) {
    %skipped = arith.cmpi eq, %i, %c1 : index
    %next = scf.if %skipped -> (tensor<3x2xf32>) {
      scf.yield %y : tensor<3x2xf32>
    } else {
      %changed = tensor.insert_slice %row into %y[%i, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x2xf32>
      scf.yield %changed : tensor<3x2xf32>
    }
    scf.yield %next : tensor<3x2xf32>
  }
  return %all : tensor<3x2xf32>
}

// What the turn before left is read behind the update, too: then it is copied.
// CHECK: copy r {{.*}}[0 for 24] w {{.*}}[0 for 24]
// BEFORE: 3x2xf32=[1 2][1 2][0 0]
// BEFORE: 3x2xf32=[1 2][0 0][0 0]
func.func @read_before(%row: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %empty = tensor.empty() : tensor<3x2xf32>
  %rows = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %all:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %rows, %y = %rows) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
    %changed = tensor.insert_slice %row into %x[%i, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x2xf32>
    scf.yield %changed, %x : tensor<3x2xf32>, tensor<3x2xf32>
  }
  return %all#0, %all#1 : tensor<3x2xf32>, tensor<3x2xf32>
}
