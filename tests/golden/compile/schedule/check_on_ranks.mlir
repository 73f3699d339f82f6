// Tests that ranks run together: the same ones in one order, and what they print comes in the order of the ranks.
// RUN: baton-compile %s -o %t.bvm
// RUN: %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-check-module %t.bvm --device=local-task --filter=*ranks | FileCheck %s
// CHECK: [       OK ] together.two_ranks
// CHECK: [  PASSED  ] 1 test.
// CHECK: [       OK ] together.two_ranks
// CHECK: [  PASSED  ] 1 test.
// RUN: not %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-check-module %t.bvm --device=local-task 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG-DAG: Element [0] of a 2xi32 is 4; expected is 5
// WRONG-DAG: on rank 0 of 2
// WRONG-DAG: on rank 1 of 2
// RUN: not env BATON_RANK_TIMEOUT=4 %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-check-module %t.bvm @0:--device=local-task @1:--device=nowhere 2>&1 | FileCheck %s --check-prefix=GONE
// GONE-DAG: Rank 1 {{is gone|did not say}}
// GONE-DAG: on rank 1 of 2
module @together {
  func.func @two_ranks() {
    %all = flow.channel.default : !flow.channel
    %numbers = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
    %like = tensor.empty() : tensor<2xi32>
    %sum = flow.collective.all_reduce sum, i32, %like, %numbers, %all
        : (tensor<2xi32>, tensor<2xi32>, !flow.channel) -> %like as tensor<2xi32>
    check.expect_eq_const(%sum, dense<[2, 4]> : tensor<2xi32>) : tensor<2xi32>
    return
  }
  func.func @wrong() {
    %all = flow.channel.default : !flow.channel
    %numbers = util.unfoldable_constant dense<[2, 2]> : tensor<2xi32>
    %like = tensor.empty() : tensor<2xi32>
    %sum = flow.collective.all_reduce sum, i32, %like, %numbers, %all
        : (tensor<2xi32>, tensor<2xi32>, !flow.channel) -> %like as tensor<2xi32>
    check.expect_eq_const(%sum, dense<[5, 4]> : tensor<2xi32>) : tensor<2xi32>
    return
  }
}
