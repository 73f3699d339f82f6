// Tensors with anything in them, which blocks hand on, return and write: each block has one of its own, since none of two blocks
// may run before the other.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-task --function=handed_on --input=4xf32=1,2,3,4 --input=3xf32=5,6,7 | FileCheck %s
// RUN: baton-run-module %t.bvm --device=local-task --function=written --input=4xf32=1,2,3,4 --input=i32=1 | FileCheck %s --check-prefix=FIRST
// RUN: baton-run-module %t.bvm --device=local-task --function=written --input=4xf32=1,2,3,4 --input=i32=0 | FileCheck %s --check-prefix=SECOND

// CHECK: 0xf32=
// CHECK: 3xf32=
// CHECK: 3xf32=
// CHECK: 4xf32=8 16 24 32
func.func @handed_on(%x: tensor<4xf32>, %y: tensor<3xf32>) -> (tensor<0xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %nothing = tensor.empty() : tensor<0xf32>
  %anything = tensor.empty() : tensor<3xf32>
  %r:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %y, %b = %x, %c = %nothing) -> (tensor<3xf32>, tensor<4xf32>, tensor<0xf32>) {
    %twice = arith.addf %b, %b : tensor<4xf32>
    scf.yield %anything, %twice, %nothing : tensor<3xf32>, tensor<4xf32>, tensor<0xf32>
  }
  return %r#2, %anything, %r#0, %r#1 : tensor<0xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>
}

// Views of one, too.
// FIRST: 2x4xf32=[1 2 3 4][{{.*}}]
// SECOND: 2x4xf32=[{{.*}}][1 2 3 4]
func.func @written(%x: tensor<4xf32>, %first: i1) -> tensor<2x4xf32> {
  %anything = tensor.empty() : tensor<8xf32>
  %rows = tensor.expand_shape %anything [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %r = scf.if %first -> tensor<2x4xf32> {
    %a = tensor.insert_slice %x into %rows[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
    scf.yield %a : tensor<2x4xf32>
  } else {
    %b = tensor.insert_slice %x into %rows[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
    scf.yield %b : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}
