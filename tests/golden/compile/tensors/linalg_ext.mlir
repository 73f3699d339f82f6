// What IREE's frontends write beside linalg, in the dialect iree_linalg_ext.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=ordered "--input=2x4xf32=3 1 3 2 -1 5 0 5" | FileCheck %s --check-prefix=ORDERED
// RUN: baton-run-module %t.bvm --device=local-sync --function=first "--input=4xf32=3 1 4 1" "--input=2xf32=9 9" "--input=2xi32=-1 -1" | FileCheck %s --check-prefix=FIRST
// RUN: baton-run-module %t.bvm --device=local-sync --function=first "--input=1xf32=3" "--input=2xf32=9 9" "--input=2xi32=-1 -1" | FileCheck %s --check-prefix=FEW
// RUN: baton-run-module %t.bvm --device=local-sync --function=summed "--input=2x3xi32=1 2 3 4 5 6" "--input=2xi32=10 20" | FileCheck %s --check-prefix=SUMMED
// RUN: baton-run-module %t.bvm --device=local-sync --function=places "--input=2x3xf32=1 7 7 4 3 8" | FileCheck %s --check-prefix=PLACES
// RUN: baton-run-module %t.bvm --device=local-sync --function=moved "--input=4x2xi32=1 2 3 4 5 6 7 8" "--input=2x2xi32=3 1 1 0" | FileCheck %s --check-prefix=MOVED
// RUN: baton-run-module %t.bvm --device=local-sync --function=attention "--input=1x2x2xf32=1 0 0 1" "--input=1x3x2xf32=1 0 0 1 1 1" "--input=1x3x2xf32=1 2 3 4 5 6" "--input=1x2x3xi1=1 1 0 1 1 1" | FileCheck %s --check-prefix=ATTENTION
// RUN: baton-run-module %t.bvm --device=local-sync --function=attention "--input=1x2x2xf32=1 0 0 1" "--input=1x3x2xf32=1 0 0 1 1 1" "--input=1x3x2xf32=1 2 3 4 5 6" "--input=1x2x3xi1=0 0 0 1 1 1" | FileCheck %s --check-prefix=UNSEEN
// RUN: baton-run-module %t.bvm --device=local-sync --function=by_key "--input=2x2xf16=1 0 0 1" "--input=3xf16=-inf 0 0" | FileCheck %s --check-prefix=BY-KEY
// RUN: baton-run-module %t.bvm --device=local-sync --function=by_key "--input=2x2xf16=1 0 0 1" "--input=3xf16=-inf -inf -inf" | FileCheck %s --check-prefix=NO-KEY
// RUN: baton-run-module %t.bvm --device=local-sync --function=capped "--input=1x2x2xf16=1 0 0 1" "--input=1x3x2xf16=1 0 0 1 1 1" "--input=1x2x3xf16=1 3 5 2 4 6" | FileCheck %s --check-prefix=CAPPED

// Equal elements keep their order, also where the region holds for neither way round.
// ORDERED: 2x4xf32=[3 3 2 1][5 5 0 -1]
// ORDERED: 2x4xi32=[0 2 3 1][1 3 2 0]
// ORDERED: 2x2xf32=[3 3][5 5]
// ORDERED: 2x2xi64=[0 2][1 3]
func.func @ordered(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>, tensor<2x2xf32>, tensor<2x2xi64>) {
  %places = arith.constant dense<[[0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<2x4xi32>
  %s:2 = iree_linalg_ext.sort dimension(1) outs(%x, %places : tensor<2x4xf32>, tensor<2x4xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32):
    %comes_first = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %comes_first : i1
  } -> tensor<2x4xf32>, tensor<2x4xi32>
  %least = arith.constant dense<0xFF800000> : tensor<2x2xf32>
  %none = arith.constant dense<0> : tensor<2x2xi64>
  %k:2 = iree_linalg_ext.topk_v2 dimension(1) is_sorted ins(%x : tensor<2x4xf32>) outs(%least, %none : tensor<2x2xf32>, tensor<2x2xi64>) {
  ^bb0(%a: f32, %b: f32):
    %comes_first = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %comes_first : i1
  } -> tensor<2x2xf32>, tensor<2x2xi64>
  return %s#0, %s#1, %k#0, %k#1 : tensor<2x4xf32>, tensor<2x4xi32>, tensor<2x2xf32>, tensor<2x2xi64>
}

// Sizes that the call knows; where it brings fewer elements than are wanted, those of outs are taken.
// FIRST: 2xf32=1 1
// FIRST: 2xi32=1 3
// FEW: 2xf32=3 9
// FEW: 2xi32=0 -1
func.func @first(%x: tensor<?xf32>, %values: tensor<?xf32>, %places: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %k:2 = iree_linalg_ext.topk dimension(0) ins(%x : tensor<?xf32>) outs(%values, %places : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%a: f32, %b: f32):
    %comes_first = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %comes_first : i1
  } -> tensor<?xf32>, tensor<?xi32>
  return %k#0, %k#1 : tensor<?xf32>, tensor<?xi32>
}

// SUMMED: 2x3xi32=[10 11 13][20 24 29]
// SUMMED: 2xi32=13 29
// SUMMED: 2x3xi32=[6 5 4][3 2 1]
func.func @summed(%x: tensor<2x3xi32>, %first: tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>, tensor<2x3xi32>) {
  %empty = tensor.empty() : tensor<2x3xi32>
  %s:2 = iree_linalg_ext.scan dimension(1) inclusive(false) ins(%x : tensor<2x3xi32>) outs(%empty, %first : tensor<2x3xi32>, tensor<2xi32>) {
  ^bb0(%a: i32, %b: i32):
    %sum = arith.addi %a, %b : i32
    iree_linalg_ext.yield %sum : i32
  } -> tensor<2x3xi32>, tensor<2xi32>
  %r = iree_linalg_ext.reverse dimensions(dense<[0, 1]> : tensor<2xi64>) ins(%x : tensor<2x3xi32>) outs(%empty : tensor<2x3xi32>) : tensor<2x3xi32>
  return %s#0, %s#1, %r : tensor<2x3xi32>, tensor<2xi32>, tensor<2x3xi32>
}

// PLACES: 2xf32=7 8
// PLACES: 2xi32=11 12
// PLACES: 3xf32=4 7 8
// PLACES: 3xi64=20 10 20
func.func @places(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<3xf32>, tensor<3xi64>) {
  %ten = arith.constant 10 : index
  %least = arith.constant dense<0xFF800000> : tensor<2xf32>
  %none = arith.constant dense<0> : tensor<2xi32>
  %a:2 = iree_linalg_ext.arg_compare dimension(1) ins(%x : tensor<2x3xf32>) outs(%least, %none : tensor<2xf32>, tensor<2xi32>) index_base(%ten : index) {
  ^bb0(%p: f32, %q: f32):
    %is_better = arith.cmpf ogt, %p, %q : f32
    iree_linalg_ext.yield %is_better : i1
  } -> tensor<2xf32>, tensor<2xi32>
  %names = arith.constant dense<[[10, 10, 10], [20, 20, 20]]> : tensor<2x3xi64>
  %least_of_three = arith.constant dense<0xFF800000> : tensor<3xf32>
  %no_name = arith.constant dense<0> : tensor<3xi64>
  %b:2 = iree_linalg_ext.arg_compare dimension(0) ins(%x, %names : tensor<2x3xf32>, tensor<2x3xi64>) outs(%least_of_three, %no_name : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%p: f32, %q: f32):
    %is_better = arith.cmpf ogt, %p, %q : f32
    iree_linalg_ext.yield %is_better : i1
  } -> tensor<3xf32>, tensor<3xi64>
  return %a#0, %a#1, %b#0, %b#1 : tensor<2xf32>, tensor<2xi32>, tensor<3xf32>, tensor<3xi64>
}

// Rows 3, 1, 1 and 0; single elements by pairs; rows added where they belong, several to one; indices in two dimensions and without a last one.
// MOVED: 2x2x2xi32={{\[\[}}7 8][3 4]]{{\[\[}}3 4][1 2]]
// MOVED: 2xi32=-4 -3
// MOVED: 4x2xi32=[2 3][5 6][5 6][8 9]
// MOVED: 4x2xi32=[1 2][10 10][5 6][7 8]
func.func @moved(%x: tensor<4x2xi32>, %i: tensor<2x2xi32>) -> (tensor<2x2x2xi32>, tensor<2xi32>, tensor<4x2xi32>, tensor<4x2xi32>) {
  %rows_out = tensor.empty() : tensor<2x2x2xi32>
  %rows = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<4x2xi32>, tensor<2x2xi32>) outs(%rows_out : tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  %pairs = arith.constant dense<[[1, 1], [1, 0]]> : tensor<2x2xi32>
  %pairs_out = tensor.empty() : tensor<2xi32>
  %turned = iree_linalg_ext.gather dimension_map = [0, 1] ins(%x, %pairs : tensor<4x2xi32>, tensor<2x2xi32>) outs(%pairs_out : tensor<2xi32>) {
  ^bb0(%a: i32, %b: i32):
    %zero = arith.constant 0 : i32
    %opposite = arith.subi %zero, %a : i32
    iree_linalg_ext.yield %opposite : i32
  } -> tensor<2xi32>
  %ones = arith.constant dense<1> : tensor<2x2x2xi32>
  %depth = tensor.expand_shape %i [[0], [1, 2]] output_shape [2, 2, 1] : tensor<2x2xi32> into tensor<2x2x1xi32>
  %added = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%ones, %depth : tensor<2x2x2xi32>, tensor<2x2x1xi32>) outs(%x : tensor<4x2xi32>) {
  ^bb0(%a: i32, %b: i32):
    %sum = arith.addi %a, %b : i32
    iree_linalg_ext.yield %sum : i32
  } -> tensor<4x2xi32>
  %ten = arith.constant dense<10> : tensor<1x2xi32>
  %at = arith.constant dense<1> : tensor<1xi32>
  %set = iree_linalg_ext.scatter dimension_map(dense<0> : tensor<1xi64>) unique_indices(true) ins(%ten, %at : tensor<1x2xi32>, tensor<1xi32>) outs(%x : tensor<4x2xi32>) {
  ^bb0(%a: i32, %b: i32):
    iree_linalg_ext.yield %a : i32
  } -> tensor<4x2xi32>
  return %rows, %turned, %added, %set : tensor<2x2x2xi32>, tensor<2xi32>, tensor<4x2xi32>, tensor<4x2xi32>
}

// The first query sees two of three keys.
// ATTENTION: 1x2x2xf32={{\[\[}}1.53788 2.53788][3.53391 4.53391]]
// One that sees none gives zeros.
// UNSEEN: 1x2x2xf32={{\[\[}}0 0][3.53391 4.53391]]
func.func @attention(%q: tensor<1x2x2xf32>, %k: tensor<1x3x2xf32>, %v: tensor<1x3x2xf32>, %seen: tensor<1x2x3xi1>) -> tensor<1x2x2xf32> {
  %scale = arith.constant 1.0 : f32
  %out = tensor.empty() : tensor<1x2x2xf32>
  %r = iree_linalg_ext.attention <indexing_maps = [affine_map<(b, m, n, c, k) -> (b, m, c)>, affine_map<(b, m, n, c, k) -> (b, k, c)>,
      affine_map<(b, m, n, c, k) -> (b, k, n)>, affine_map<(b, m, n, c, k) -> ()>, affine_map<(b, m, n, c, k) -> (b, m, k)>, affine_map<(b, m, n, c, k) -> (b, m, n)>]>
      ins(%q, %k, %v, %scale, %seen : tensor<1x2x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>, f32, tensor<1x2x3xi1>) outs(%out : tensor<1x2x2xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}

// Halves, values turned, and a region that computes: it sees scores times log2(e), and what it gives are powers of two.
// CAPPED: 1x2x2xf16={{\[\[}}3 4][3.62{{[0-9]*}} 4.62{{[0-9]*}}]]
func.func @capped(%q: tensor<1x2x2xf16>, %k: tensor<1x3x2xf16>, %v: tensor<1x2x3xf16>) -> tensor<1x2x2xf16> {
  %scale = arith.constant 1.0 : f16
  %out = tensor.empty() : tensor<1x2x2xf16>
  %r = iree_linalg_ext.attention {indexing_maps = [affine_map<(b, m, n, c, k) -> (b, m, c)>, affine_map<(b, m, n, c, k) -> (b, k, c)>,
      affine_map<(b, m, n, c, k) -> (b, n, k)>, affine_map<(b, m, n, c, k) -> ()>, affine_map<(b, m, n, c, k) -> (b, m, n)>]}
      ins(%q, %k, %v, %scale : tensor<1x2x2xf16>, tensor<1x3x2xf16>, tensor<1x2x3xf16>, f16) outs(%out : tensor<1x2x2xf16>) {
  ^bb0(%score: f32):
    %two = arith.constant 2.0 : f32
    %capped = math.tanh %score : f32
    %r = arith.mulf %capped, %two : f32
    iree_linalg_ext.yield %r : f32
  } -> tensor<1x2x2xf16>
  return %r : tensor<1x2x2xf16>
}

// BY-KEY: 2x2xf16=[0.5 1][0.5 1]
// NO-KEY: 2x2xf16=[0 0][0 0]
func.func @by_key(%q: tensor<2x2xf16>, %mask: tensor<3xf16>) -> tensor<2x2xf16> {
  %k = arith.constant dense<[[9.0, 9.0], [1.0, 1.0], [1.0, 1.0]]> : tensor<3x2xf16>
  %v = arith.constant dense<[[9.0, 9.0], [0.0, 1.0], [1.0, 1.0]]> : tensor<3x2xf16>
  %scale = arith.constant 1.0 : f16
  %out = tensor.empty() : tensor<2x2xf16>
  %r = iree_linalg_ext.attention <indexing_maps = [affine_map<(m, n, c, k) -> (m, c)>, affine_map<(m, n, c, k) -> (k, c)>, affine_map<(m, n, c, k) -> (k, n)>,
      affine_map<(m, n, c, k) -> ()>, affine_map<(m, n, c, k) -> (k)>, affine_map<(m, n, c, k) -> (m, n)>]>
      ins(%q, %k, %v, %scale, %mask : tensor<2x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, f16, tensor<3xf16>) outs(%out : tensor<2x2xf16>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x2xf16>
  return %r : tensor<2x2xf16>
}
