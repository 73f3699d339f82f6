// A result that is where an argument of the same type is, whole, is the view that the caller passed; any other is made.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-dump-module %t.bvm | FileCheck %s
// RUN: baton-run-module %t.bvm --device=local-task -f through --input=2x2xf32=1,2,3,4 --input=3xi32=5,6,7 | FileCheck %s --check-prefix=THROUGH
// RUN: baton-run-module %t.bvm --device=local-task -f another_shape --input=4xf32=1,2,3,4 | FileCheck %s --check-prefix=ANOTHER_SHAPE
// RUN: baton-run-module %t.bvm --device=local-task -f either --input=4xf32=1,2,3,4 --input=4xf32=5,6,7,8 --input=0 | FileCheck %s --check-prefix=EITHER

// CHECK-LABEL: export func @through(
// CHECK-NOT: @hal.buffer_view.create
// CHECK: return
// THROUGH: 3xi32=5 6 7
// THROUGH: 2x2xf32=[1 2][3 4]
// THROUGH: 2x2xf32=[1 2][3 4]
func.func @through(%x: tensor<2x2xf32>, %y: tensor<3xi32>) -> (tensor<3xi32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  return %y, %x, %x : tensor<3xi32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// What a command of a module writes in place: awaited.mlir.
// CHECK-LABEL: export func @another_shape(
// CHECK: @hal.buffer_view.create
// CHECK: return
// ANOTHER_SHAPE: 2x2xf32=[1 2][3 4]
func.func @another_shape(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// A part of an argument.
// CHECK-LABEL: export func @part(
// CHECK: @hal.buffer_view.create
// CHECK: return
func.func @part(%x: tensor<8xf32>) -> tensor<4xf32> {
  %y = tensor.extract_slice %x[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// Sizes that only the caller knows.
// CHECK-LABEL: export func @unknown(
// CHECK: @hal.buffer_view.create
// CHECK: return
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// One of two, as it comes.
// CHECK-LABEL: export func @either(
// CHECK: @hal.buffer_view.create
// CHECK: return
// EITHER: 4xf32=5 6 7 8
func.func @either(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %some = arith.cmpi ne, %n, %zero : i32
  cf.cond_br %some, ^join(%x : tensor<4xf32>), ^join(%y : tensor<4xf32>)
^join(%z: tensor<4xf32>):
  return %z : tensor<4xf32>
}
