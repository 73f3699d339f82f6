// A rank that fails between two collectives ends those who wait for it (collectives_on_gpus.test has the same on GPUs).
// RUN: baton-compile %s --target-device=local -o %t.bvm
// RUN: not env BATON_RANK_TIMEOUT=10 %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-run-module %t.bvm --device=local-task --function=twice --input=4xi32=1 --input={rank} 2>&1 | FileCheck %s --check-prefix=LOCAL
// LOCAL-DAG: INVALID_ARGUMENT; division by zero
// LOCAL-DAG: UNAVAILABLE; Rank 0 is gone.
// LOCAL-DAG: on rank 0 of 2
// LOCAL-DAG: on rank 1 of 2
func.func @twice(%x: tensor<4xi32>, %n: i32) -> tensor<4xi32> {
  %all = flow.channel.default : !flow.channel
  %like = tensor.empty() : tensor<4xi32>
  %once = flow.collective.all_reduce sum, i32, %like, %x, %all
      : (tensor<4xi32>, tensor<4xi32>, !flow.channel) -> %like as tensor<4xi32>
  %c0 = arith.constant 0 : index
  %first = tensor.extract %once[%c0] : tensor<4xi32>
  %quotient = arith.divsi %first, %n : i32
  %zero = arith.constant 0 : i32
  %goes_on = arith.cmpi ne, %quotient, %zero : i32
  %twice = scf.if %goes_on -> tensor<4xi32> {
    %sum = flow.collective.all_reduce sum, i32, %like, %once, %all
        : (tensor<4xi32>, tensor<4xi32>, !flow.channel) -> %like as tensor<4xi32>
    scf.yield %sum : tensor<4xi32>
  } else {
    scf.yield %once : tensor<4xi32>
  }
  return %twice : tensor<4xi32>
}
