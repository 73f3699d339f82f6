// A program in MLIR 19's form of tosa is lowered by upstream's passes, beside operations of our own dialects.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-task %t.bvm --function=several --input=2x3xf32=1,2,3,4,5,6 --input=1x3xf32=10,20,30 | FileCheck %s
// RUN: baton-run-module --device=local-task %t.bvm --function=checked | FileCheck --check-prefix=CHECKED %s
// RUN: sed 's/tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>/tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>/' %s | not baton-compile - 2>&1 | FileCheck --check-prefix=WRONG %s

// CHECK: 2x1xf32=[66][75]
// CHECK: 3x2xf32=[11 14][22 25][33 36]
// CHECK: 2x3xi1
// WRONG: error:
func.func @several(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> (tensor<2x1xf32>, tensor<3x2xf32>, tensor<2x3xi1>) {
  %0 = tosa.add %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %p = "tosa.const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %2 = tosa.transpose %0, %p : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  %3 = tosa.greater %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xi1>
  return %1, %2, %3 : tensor<2x1xf32>, tensor<3x2xf32>, tensor<2x3xi1>
}

// CHECKED: EXEC @checked
func.func @checked() {
  %x = util.unfoldable_constant dense<[1.0, 4.0, 9.0]> : tensor<3xf32>
  %0 = tosa.rsqrt %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = tosa.reciprocal %0 : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_almost_eq_const(%1, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}
