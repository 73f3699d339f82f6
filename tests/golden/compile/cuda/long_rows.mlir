// More workgroups than a device may take in a row: 600,001 rows are 75,001 blocks of threads, and Vulkan promises 65535.
// The sum of all tells whether each was computed.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=rows --input=i32=3 | FileCheck %s
// CHECK: 4xi32=63 72 54 63
// CHECK: i32=40500063
#row = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func @rows(%x: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
  %zero = arith.constant 0 : i32
  %start = tensor.extract %x[] : tensor<i32>
  %numbers = tensor.empty() : tensor<600001x9xi8>
  // (row + column + x) mod 16.
  %made = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]}
      outs(%numbers : tensor<600001x9xi8>) {
  ^bb0(%out: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 15 : i32
    %s = arith.addi %i, %j : index
    %n = arith.index_cast %s : index to i32
    %t = arith.addi %n, %start : i32
    %m = arith.andi %t, %c : i32
    %b = arith.trunci %m : i32 to i8
    linalg.yield %b : i8
  } -> tensor<600001x9xi8>
  %sums = tensor.empty() : tensor<600001xi32>
  %clear = linalg.fill ins(%zero : i32) outs(%sums : tensor<600001xi32>) -> tensor<600001xi32>
  %all = linalg.generic {indexing_maps = [#row, #first], iterator_types = ["parallel", "reduction"]}
      ins(%made : tensor<600001x9xi8>) outs(%clear : tensor<600001xi32>) {
  ^bb0(%in: i8, %out: i32):
    %w = arith.extui %in : i8 to i32
    %s = arith.addi %out, %w : i32
    linalg.yield %s : i32
  } -> tensor<600001xi32>
  %kept = util.optimization_barrier %all : tensor<600001xi32>
  %a = tensor.extract_slice %kept[0][2][1] : tensor<600001xi32> to tensor<2xi32>
  %b = tensor.extract_slice %kept[599999][2][1] : tensor<600001xi32> to tensor<2xi32>
  %seed = arith.constant dense<0> : tensor<i32>
  %total = linalg.generic {indexing_maps = [#one, #none], iterator_types = ["reduction"]}
      ins(%kept : tensor<600001xi32>) outs(%seed : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %s = arith.addi %out, %in : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  %few = tensor.concat dim(0) %a, %b : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
  return %few, %total : tensor<4xi32>, tensor<i32>
}
