// Tests that a compiled program expresses with the dialect `check`, run as such.
// RUN: baton-compile %s -o %t.bvm
// RUN: not baton-check-module %t.bvm --device=local-sync > %t.out 2>&1
// RUN: FileCheck %s --match-full-lines --input-file=%t.out
//      CHECK: [ RUN      ] expectations.doubled
// CHECK-NEXT: [       OK ] expectations.doubled ({{[0-9]+}} ms)
//      CHECK: [ RUN      ] expectations.doubled_wrongly
// CHECK-NEXT: FAILED_PRECONDITION; Element [2] of a 4xf32 is 6; expected is 7 within 0.5 + 0 of it (1 of 4 elements differ, by up to 1).
//      CHECK: [  FAILED  ] expectations.doubled_wrongly ({{[0-9]+}} ms)
//      CHECK: [ RUN      ] expectations.halves
// CHECK-NEXT: [       OK ] expectations.halves ({{[0-9]+}} ms)
//      CHECK: [  PASSED  ] 2 tests.
//      CHECK: baton-check-module: FAILED_PRECONDITION; 1 of 3 tests failed
module @expectations {
  func.func @doubled() {
    %numbers = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %sums = arith.addf %numbers, %numbers : tensor<4xf32>
    check.expect_almost_eq_const(%sums, dense<[2.0, 4.0, 6.0, 8.0]> : tensor<4xf32>, 1.0e-3) : tensor<4xf32>
    check.expect_almost_eq_const(%sums, dense<[2.0, 4.0, 6.0, 8.25]> : tensor<4xf32>, tolerance 0.5) : tensor<4xf32>
    return
  }
  func.func @doubled_wrongly() {
    %numbers = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %sums = arith.addf %numbers, %numbers : tensor<4xf32>
    check.expect_almost_eq_const(%sums, dense<[2.0, 4.0, 7.0, 8.0]> : tensor<4xf32>, atol 0.5) : tensor<4xf32>
    return
  }
  func.func @halves() {
    %numbers = util.unfoldable_constant dense<[2, 4, 6]> : tensor<3xi32>
    %two = arith.constant dense<2> : tensor<3xi32>
    %halves = arith.divsi %numbers, %two : tensor<3xi32>
    check.expect_eq_const(%halves, dense<[1, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
    %narrow = arith.trunci %halves : tensor<3xi32> to tensor<3xi4>
    check.expect_eq_const(%narrow, dense<[1, 2, 3]> : tensor<3xi4>) : tensor<3xi4>
    %negative = util.unfoldable_constant dense<[-8, -1, 7]> : tensor<3xi4>
    check.expect_eq_const(%negative, dense<[-8, -1, 7]> : tensor<3xi4>) : tensor<3xi4>
    check.expect_eq(%negative, %negative) : tensor<3xi4>
    return
  }
}
