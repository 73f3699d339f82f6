// Rows that a sum adds are read where they lie, and no copy of them is written: the numbers of the rows become an operand of the sum,
// however they are given (schedule/chosen_parts), where cores and where blocks of threads compute.
// RUN: baton-compile --target-device=local --dump-schedule %s | FileCheck %s
// RUN: baton-compile --target-device=cuda --dump-schedule %s | FileCheck %s
// RUN: baton-compile --target-device=local %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=bags --input=4x2xf32="1 2 3 4 5 6 7 8" --input=2x3xi32="0 3 1 -9 2 77" | FileCheck %s --check-prefix=SUMS
// SUMS: 2x2xf32=[11 14][13 16]
// CHECK-LABEL: recording bags.0
// CHECK: dispatch bags_
// CHECK-NOT: dispatch bags_
func.func @bags(%w: tensor<4x2xf32>, %rows: tensor<2x3xi32>) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.empty() : tensor<2x3x1xi32>
  %numbers = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%rows : tensor<2x3xi32>) outs(%n : tensor<2x3x1xi32>) {
  ^bb0(%x: i32, %o: i32):
    linalg.yield %x : i32
  } -> tensor<2x3x1xi32>
  %e = tensor.empty() : tensor<2x3x2xf32>
  %taken = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<2x3x2xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %number = tensor.extract %numbers[%i, %j, %c0] : tensor<2x3x1xi32>
    %row = arith.index_cast %number : i32 to index
    %low = arith.maxsi %row, %c0 : index
    %inside = arith.minsi %low, %c3 : index
    %element = tensor.extract %w[%inside, %k] : tensor<4x2xf32>
    linalg.yield %element : f32
  } -> tensor<2x3x2xf32>
  %s = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<2x2xf32>) -> tensor<2x2xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%taken : tensor<2x3x2xf32>) outs(%f : tensor<2x2xf32>) {
  ^bb0(%x: f32, %o: f32):
    %t = arith.addf %o, %x : f32
    linalg.yield %t : f32
  } -> tensor<2x2xf32>
  return %sums : tensor<2x2xf32>
}
