// What stands behind a $ makes another type of one import: the program has it once.
// RUN: baton-compile %s --target-device=local -o %t.bvm
// RUN: baton-dump-module %t.bvm | FileCheck %s
// RUN: baton-run-module %t.bvm --device=local-sync --function=both --input=4xf32=2 --input=2x3xi32=3 | FileCheck %s --check-prefix=RESULT
// CHECK: collective.all_reduce
// CHECK-NOT: all_reduce$
// RESULT: 4xf32=2 2 2 2
// RESULT: 2x3xi32=[3 3 3][3 3 3]
util.func private @collective.all_reduce$1(tensor<2x3xi32>, i32) -> tensor<2x3xi32> attributes {iree.abi.streamable}
util.func private @collective.all_reduce(tensor<4xf32>, i32) -> tensor<4xf32> attributes {iree.abi.streamable}

func.func @both(%x: tensor<4xf32>, %y: tensor<2x3xi32>) -> (tensor<4xf32>, tensor<2x3xi32>) {
  %sum = arith.constant 1 : i32
  %a = util.call @collective.all_reduce(%x, %sum) : (tensor<4xf32>, i32) -> tensor<4xf32>
  %b = util.call @collective.all_reduce$1(%y, %sum) : (tensor<2x3xi32>, i32) -> tensor<2x3xi32>
  return %a, %b : tensor<4xf32>, tensor<2x3xi32>
}
