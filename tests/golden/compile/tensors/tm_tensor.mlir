// Scans, scatters and sorts as torch-mlir writes them, along each dimension, of sizes that are known or not.
// RUN: baton-opt %s | FileCheck --check-prefix=FORM %s
// RUN: baton-opt %s > %t.1 && baton-opt %t.1 | diff %t.1 -
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync %t.bvm --function=sums --input=2x5xf32=1,2,3,4,5,6,7,8,9,10 | FileCheck --check-prefix=SUMS %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=before --input=3x2xi64=1,2,3,4,5,6 | FileCheck --check-prefix=BEFORE %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=open_sums --input=5xi32=1,2,3,4,5 | FileCheck --check-prefix=OPEN %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=open_sums --input=1xi32=7 | FileCheck --check-prefix=ONE %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=sorted --input=2x5xf32=3,1,3,nan,2,-1,5,-1,0,9 | FileCheck --check-prefix=SORTED %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=open_sorted --input=4x1xi16=3,-2,7,0 | FileCheck --check-prefix=OPENSORTED %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=added --input=4xi64=1,2,3,4 --input=4x1xi64=1,1,9,0 --input=3xi64=10,20,30 | FileCheck --check-prefix=ADDED %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=rows --input=2x3xf32=1,2,3,4,5,6 --input=2x1xi32=2,0 --input=3x3xf32=0 | FileCheck --check-prefix=ROWS %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=windows --input=1x1x2xf32=1,2 --input=1x2xi32=1,1 --input=2x4xf32=0 | FileCheck --check-prefix=WINDOWS %s
// RUN: sed s/dimension\(1\)/dimension\(2\)/ %s | not baton-compile - 2>&1 | FileCheck --check-prefix=DIMENSION %s
// RUN: sed s/array.i64:.0,.1./array\<i64:\ 0\>/ %s | not baton-compile - 2>&1 | FileCheck --check-prefix=MAP %s
// DIMENSION: error: 'tm_tensor.scan' op names dimension 2 of 'tensor<2x5xf32>'
// MAP: error: 'tm_tensor.scatter' op takes indices of two dimensions, the last as long as dimension_map

// FORM: tm_tensor.scan dimension(1) inclusive(true) ins(%{{.*}} : tensor<2x5xf32>) outs(%{{.*}}, %{{.*}} : tensor<2x5xf32>, tensor<2xf32>) {
// FORM-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
// FORM: tm_tensor.yield %{{.*}} : f32
// FORM: } -> tensor<2x5xf32>, tensor<2xf32>
// SUMS: 2x5xf32=[1 3 6 10 15][6 13 21 30 40]
// SUMS: 2xf32=15 40
func.func @sums(%in: tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2xf32>) {
  %out = tensor.empty() : tensor<2x5xf32>
  %acc = tensor.empty() : tensor<2xf32>
  %0:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%in : tensor<2x5xf32>) outs(%out, %acc : tensor<2x5xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    tm_tensor.yield %1 : f32
  } -> tensor<2x5xf32>, tensor<2xf32>
  return %0#0, %0#1 : tensor<2x5xf32>, tensor<2xf32>
}

// BEFORE: 3x2xi64=[10 10][10 20][30 80]
// BEFORE: 2xi64=30 80
func.func @before(%in: tensor<3x2xi64>) -> (tensor<3x2xi64>, tensor<2xi64>) {
  %out = tensor.empty() : tensor<3x2xi64>
  %acc = arith.constant dense<10> : tensor<2xi64>
  %0:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%in : tensor<3x2xi64>) outs(%out, %acc : tensor<3x2xi64>, tensor<2xi64>) {
  ^bb0(%a: i64, %b: i64):
    %1 = arith.muli %a, %b : i64
    tm_tensor.yield %1 : i64
  } -> tensor<3x2xi64>, tensor<2xi64>
  return %0#0, %0#1 : tensor<3x2xi64>, tensor<2xi64>
}

// OPEN: 5xi32=1 3 6 10 15
// OPEN: i32=15
// ONE: 1xi32=7
// ONE: i32=7
func.func @open_sums(%in: tensor<?xi32>) -> (tensor<?xi32>, tensor<i32>) {
  %acc = tensor.empty() : tensor<i32>
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%in : tensor<?xi32>) outs(%in, %acc : tensor<?xi32>, tensor<i32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.addi %a, %b : i32
    tm_tensor.yield %1 : i32
  } -> tensor<?xi32>, tensor<i32>
  return %0#0, %0#1 : tensor<?xi32>, tensor<i32>
}

// FORM: tm_tensor.sort dimension(1) outs(
// The equal ones keep their order, and NaN loses nobody.
// SORTED: 2x5xf32=[3 NAN 3 2 1][9 5 0 -1 -1]
// SORTED: 2x5xi64=[0 3 2 4 1][4 1 3 0 2]
func.func @sorted(%in: tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>) {
  %numbers = arith.constant dense<[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]> : tensor<2x5xi64>
  %0:2 = tm_tensor.sort dimension(1) outs(%in, %numbers : tensor<2x5xf32>, tensor<2x5xi64>) {
  ^bb0(%a: f32, %b: f32, %i: i64, %j: i64):
    %1 = arith.cmpf oge, %a, %b : f32
    tm_tensor.yield %1 : i1
  } -> tensor<2x5xf32>, tensor<2x5xi64>
  return %0#0, %0#1 : tensor<2x5xf32>, tensor<2x5xi64>
}

// OPENSORTED: 4x1xi16=[-2][0][3][7]
func.func @open_sorted(%in: tensor<?x1xi16>) -> tensor<?x1xi16> {
  %0 = tm_tensor.sort dimension(0) outs(%in : tensor<?x1xi16>) {
  ^bb0(%a: i16, %b: i16):
    %1 = arith.cmpi slt, %a, %b : i16
    tm_tensor.yield %1 : i1
  } -> tensor<?x1xi16>
  return %0 : tensor<?x1xi16>
}

// Updates of one element come one after the other; outside they are dropped.
// ADDED: 3xi64=14 23 30
func.func @added(%updates: tensor<4xi64>, %at: tensor<4x1xi64>, %old: tensor<3xi64>) -> tensor<3xi64> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%updates, %at : tensor<4xi64>, tensor<4x1xi64>) outs(%old : tensor<3xi64>) {
  ^bb0(%update: i64, %now: i64):
    %1 = arith.addi %now, %update : i64
    tm_tensor.yield %1 : i64
  } -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// ROWS: 3x3xf32=[4 5 6][0 0 0][1 2 3]
func.func @rows(%updates: tensor<?x3xf32>, %at: tensor<?x1xi32>, %old: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%updates, %at : tensor<?x3xf32>, tensor<?x1xi32>) outs(%old : tensor<?x3xf32>) {
  ^bb0(%update: f32, %now: f32):
    tm_tensor.yield %update : f32
  } -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// An update of a window begins where its indices say.
// WINDOWS: 2x4xf32=[0 0 0 0][0 1 2 0]
func.func @windows(%updates: tensor<1x1x2xf32>, %at: tensor<1x2xi32>, %old: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(true) ins(%updates, %at : tensor<1x1x2xf32>, tensor<1x2xi32>) outs(%old : tensor<2x4xf32>) {
  ^bb0(%update: f32, %now: f32):
    tm_tensor.yield %update : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
