// A step of a loop reads and writes rows that lie elsewhere in each step: its recording is made once, and a call executes it
// with the rows in slots of their own.
// RUN: baton-compile --target-device=local --dump-schedule %s -o - | FileCheck %s --check-prefix=PLAN
// RUN: baton-compile --target-device=local %s -o %t.bvm
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=running --input=4x3xf32="1 2 3 4 5 6 7 8 9 10 11 12" | FileCheck %s
// RUN: baton-run-module --module=%t.bvm --device=local-task --function=running --input=4x3xf32="1 2 3 4 5 6 7 8 9 10 11 12" | FileCheck %s
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=in_place --input=4x3xf32="1 2 3 4 5 6 7 8 9 10 11 12" --input=3 | FileCheck %s --check-prefix=PLACE

// PLAN-NOT: recorded by calls
// CHECK: 4x3xf32=[1 2 3][5 7 9][12 15 18][22 26 30]
func.func @running(%rows: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %begin = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %no_row = tensor.empty() : tensor<3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%no_row : tensor<3xf32>) -> tensor<3xf32>
  %all = tensor.empty() : tensor<4x3xf32>
  %sums, %written = scf.for %i = %begin to %end step %one iter_args(%sum = %zeros, %out = %all) -> (tensor<3xf32>, tensor<4x3xf32>) {
    %row = tensor.extract_slice %rows[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
    %next = arith.addf %sum, %row : tensor<3xf32>
    %more = tensor.insert_slice %next into %out[%i, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<4x3xf32>
    scf.yield %next, %more : tensor<3xf32>, tensor<4x3xf32>
  }
  return %written : tensor<4x3xf32>
}

// Each row is added to the one behind it, which the next step reads: the rows of one step are parts of one storage.
// PLACE: 4x3xf32=[1 2 3][5 7 9][12 15 18][22 26 30]
func.func @in_place(%rows: tensor<4x3xf32>, %count: index) -> tensor<4x3xf32> {
  %begin = arith.constant 0 : index
  %one = arith.constant 1 : index
  %made = scf.for %i = %begin to %count step %one iter_args(%out = %rows) -> (tensor<4x3xf32>) {
    %behind = arith.addi %i, %one : index
    %row = tensor.extract_slice %out[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
    %old = tensor.extract_slice %out[%behind, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
    %next = arith.addf %old, %row : tensor<3xf32>
    %more = tensor.insert_slice %next into %out[%behind, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<4x3xf32>
    scf.yield %more : tensor<4x3xf32>
  }
  return %made : tensor<4x3xf32>
}
