// An element of a slice is read where the slice lies, whatever memory that is: a caller's, a constant's, a result's, a global's.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=of_argument --input=3xi32=3,4,5 --input=1 | FileCheck %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=of_constant --input=1 | FileCheck %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=of_result --input=3xi32=2,3,4 --input=1 | FileCheck %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=of_global --input=1 | FileCheck %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=of_a_slice_of_a_slice --input=1 | FileCheck --check-prefix=LAST %s
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=of_nothing_written --input=1 | FileCheck --check-prefix=ANY %s
// CHECK: result[0]: i32=4
// CHECK-NEXT: result[1]: i32=5
// CHECK-NEXT: result[2]: i32=4
// LAST: result[0]: i32=5
// ANY: result[0]: i32=

func.func private @elements(%x: tensor<3xi32>, %i: index) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = tensor.extract_slice %x[%i] [1] [1] : tensor<3xi32> to tensor<i32>
  %a = tensor.extract %one[] : tensor<i32>
  %two = tensor.extract_slice %x[%i] [2] [1] : tensor<3xi32> to tensor<2xi32>
  %b = tensor.extract %two[%c1] : tensor<2xi32>
  %as_row = tensor.expand_shape %one [] output_shape [1] : tensor<i32> into tensor<1xi32>
  %c = tensor.extract %as_row[%c0] : tensor<1xi32>
  return %a, %b, %c : i32, i32, i32
}

func.func @of_argument(%x: tensor<3xi32>, %i: index) -> (i32, i32, i32) {
  %0:3 = func.call @elements(%x, %i) : (tensor<3xi32>, index) -> (i32, i32, i32)
  return %0#0, %0#1, %0#2 : i32, i32, i32
}

func.func @of_constant(%i: index) -> (i32, i32, i32) {
  %x = arith.constant dense<[3, 4, 5]> : tensor<3xi32>
  %0:3 = func.call @elements(%x, %i) : (tensor<3xi32>, index) -> (i32, i32, i32)
  return %0#0, %0#1, %0#2 : i32, i32, i32
}

func.func @of_result(%x: tensor<3xi32>, %i: index) -> (i32, i32, i32) {
  %one = arith.constant dense<1> : tensor<3xi32>
  %y = arith.addi %x, %one : tensor<3xi32>
  %0:3 = func.call @elements(%y, %i) : (tensor<3xi32>, index) -> (i32, i32, i32)
  return %0#0, %0#1, %0#2 : i32, i32, i32
}

util.global private @numbers = dense<[3, 4, 5]> : tensor<3xi32>
func.func @of_global(%i: index) -> (i32, i32, i32) {
  %x = util.global.load @numbers : tensor<3xi32>
  %0:3 = func.call @elements(%x, %i) : (tensor<3xi32>, index) -> (i32, i32, i32)
  return %0#0, %0#1, %0#2 : i32, i32, i32
}

func.func @of_a_slice_of_a_slice(%i: index) -> i32 {
  %x = arith.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %tail = tensor.extract_slice %x[%i] [4] [1] : tensor<6xi32> to tensor<4xi32>
  %part = tensor.extract_slice %tail[2] [2] [1] : tensor<4xi32> to tensor<2xi32>
  %v = tensor.extract %part[%i] : tensor<2xi32>
  return %v : i32
}

func.func @of_nothing_written(%i: index) -> i32 {
  %x = tensor.empty() : tensor<3xi32>
  %part = tensor.extract_slice %x[%i] [2] [1] : tensor<3xi32> to tensor<2xi32>
  %v = tensor.extract %part[%i] : tensor<2xi32>
  return %v : i32
}
