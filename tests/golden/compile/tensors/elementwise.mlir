// Elementwise programs compute, with static and dynamic shapes, on both CPU devices.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=square --input=4xf32=1,2,3,4 > %t.out
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=chain --input=5xf32=1,2,3,4,5 --input=5xf32=0.5 >> %t.out
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=chain --input=0xf32 --input=0xf32 >> %t.out
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=mixed --input=2x3xi32=1,2,3,4,5,6 --input=10 >> %t.out
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=sizes --input=2x7xf32=0 >> %t.out
// RUN: FileCheck %s < %t.out
// RUN: baton-compile --dump-schedule %s | FileCheck --check-prefix=SCHEDULE %s
// RUN: not baton-run-module --device=local-sync --module=%t.bvm --function=square --input=5xf32=1 2>&1 | FileCheck --check-prefix=SHAPE %s

// CHECK: EXEC @square
// CHECK-NEXT: result[0]: hal.buffer_view
// CHECK-NEXT: 4xf32=1 4 9 16
// SHAPE: INVALID_ARGUMENT
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Ten operations are one dispatch.
// SCHEDULE: chain
// CHECK: 5xf32=0.75 3.75 8.75 15.75 24.75
// CHECK: 0xf32=
func.func @chain(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %y : tensor<?xf32>
  %1 = arith.subf %x, %y : tensor<?xf32>
  %2 = arith.mulf %0, %1 : tensor<?xf32>
  %3 = arith.negf %2 : tensor<?xf32>
  %4 = math.absf %3 : tensor<?xf32>
  %5 = arith.maximumf %4, %2 : tensor<?xf32>
  %6 = arith.addf %5, %x : tensor<?xf32>
  %7 = arith.subf %6, %x : tensor<?xf32>
  %8 = arith.negf %7 : tensor<?xf32>
  %9 = arith.negf %8 : tensor<?xf32>
  return %9 : tensor<?xf32>
}

// CHECK: EXEC @mixed
// CHECK: 2x3xi32=[10 20 30][40 50 60]
// CHECK: i32=11
func.func @mixed(%x: tensor<2x3xi32>, %k: i32) -> (tensor<2x3xi32>, i32) {
  %one = arith.constant 1 : i32
  %empty = tensor.empty() : tensor<2x3xi32>
  %factor = linalg.fill ins(%k : i32) outs(%empty : tensor<2x3xi32>) -> tensor<2x3xi32>
  %y = arith.muli %x, %factor : tensor<2x3xi32>
  %next = arith.addi %k, %one : i32
  return %y, %next : tensor<2x3xi32>, i32
}

// CHECK: EXEC @sizes
// CHECK-NEXT: i64=7
func.func @sizes(%x: tensor<2x?xf32>) -> index {
  %one = arith.constant 1 : index
  %size = tensor.dim %x, %one : tensor<2x?xf32>
  return %size : index
}
