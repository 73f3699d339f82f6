// What torch-mlir writes around tensors: state in globals of ml_program, assertions inside of bodies, dimensions that only data
// name, groups of open sizes that are collapsed.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync %t.bvm --function=next --function=next | FileCheck --check-prefix=NEXT %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=constant | FileCheck --check-prefix=CONSTANT %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=taken --input=3xf32=1,2,3 --input=2xi64=2,0 | FileCheck --check-prefix=TAKEN %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=sizes --input=2x3x5xf32=0 | FileCheck --check-prefix=SIZES %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=groups --input=2x4xf32=1,2,3,4,5,6,7,8 --input=4xi64=2,2,1,2 | FileCheck --check-prefix=GROUPS %s
// RUN: baton-run-module --device=local-sync %t.bvm --function=joined --input=1xf32=1 --input=2xf32=2,3 --input=1xf32=4 | FileCheck --check-prefix=JOINED %s
// RUN: echo 'ml_program.global public @g(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>' | not baton-compile - 2>&1 | FileCheck --check-prefix=EXTERN %s
// RUN: echo 'ml_program.func @f(%%a: i32) -> i32 { ml_program.return %%a : i32 }' | not baton-compile - 2>&1 | FileCheck --check-prefix=FUNCTION %s
// EXTERN: error: ml_program.global is not lowered; one with its value is.
// FUNCTION: error: ml_program.func is not lowered; func.func with ml_program's globals is.

ml_program.global private mutable @seed(dense<40> : tensor<i64>) : tensor<i64>
ml_program.global private @table(dense<[1.0, 2.5]> : tensor<2xf32>) : tensor<2xf32>

// NEXT: i64=41
// NEXT: i64=42
func.func @next() -> tensor<i64> {
  %seed = ml_program.global_load @seed : tensor<i64>
  %old = tensor.extract %seed[] : tensor<i64>
  %one = arith.constant 1 : i64
  %new = arith.addi %old, %one : i64
  %inserted = tensor.insert %new into %seed[] : tensor<i64>
  ml_program.global_store @seed = %inserted : tensor<i64>
  return %inserted : tensor<i64>
}

// CONSTANT: 2xf32=1 2.5
func.func @constant() -> tensor<2xf32> {
  %table = ml_program.global_load_const @table : tensor<2xf32>
  return %table : tensor<2xf32>
}

// TAKEN: 2xf32=3 1
func.func @taken(%from: tensor<3xf32>, %at: tensor<2xi64>) -> tensor<2xf32> {
  %empty = tensor.empty() : tensor<2xf32>
  %c3 = arith.constant 3 : i64
  %taken = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : tensor<2xi64>) outs(%empty : tensor<2xf32>) {
  ^bb0(%each: i64, %out: f32):
    %is_inside = arith.cmpi ult, %each, %c3 : i64
    cf.assert %is_inside, "index must be smaller than dim size"
    %index = arith.index_cast %each : i64 to index
    %element = tensor.extract %from[%index] : tensor<3xf32>
    linalg.yield %element : f32
  } -> tensor<2xf32>
  %padded = tensor.pad %taken low[0] high[1] {
  ^bb0(%i: index):
    %is_there = arith.cmpi ult, %i, %i : index
    cf.assert %is_there, "never asked"
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<2xf32> to tensor<3xf32>
  %first = tensor.extract_slice %padded[0] [2] [1] : tensor<3xf32> to tensor<2xf32>
  return %first : tensor<2xf32>
}

// SIZES: 3xi64=2 3 5
func.func @sizes(%x: tensor<?x3x?xf32>) -> tensor<3xi64> {
  %c3 = arith.constant 3 : index
  %sizes = tensor.generate {
  ^bb0(%d: index):
    %i = arith.index_cast %d : index to i64
    %size = tensor.dim %x, %d : tensor<?x3x?xf32>
    %result = arith.index_cast %size : index to i64
    tensor.yield %result : i64
  } : tensor<3xi64>
  return %sizes : tensor<3xi64>
}

// GROUPS: 2x4xf32=[1 2 3 4][5 6 7 8]
func.func @groups(%x: tensor<2x4xf32>, %shape: tensor<4xi64>) -> tensor<2x?xf32> {
  %reshaped = tensor.reshape %x(%shape) : (tensor<2x4xf32>, tensor<4xi64>) -> tensor<2x?x?x?xf32>
  %collapsed = tensor.collapse_shape %reshaped [[0], [1, 2, 3]] : tensor<2x?x?x?xf32> into tensor<2x?xf32>
  %c1 = arith.constant 1 : index
  %size = tensor.dim %collapsed, %c1 : tensor<2x?xf32>
  %empty = tensor.empty(%size) : tensor<2x?xf32>
  %same = linalg.abs ins(%collapsed : tensor<2x?xf32>) outs(%empty : tensor<2x?xf32>) -> tensor<2x?xf32>
  return %same : tensor<2x?xf32>
}

// JOINED: 4xf32=-1 -2 -3 -4
func.func @joined(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %all = tensor.concat dim(0) %a, %b, %c : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %size = tensor.dim %all, %c0 : tensor<?xf32>
  %empty = tensor.empty(%size) : tensor<?xf32>
  %turned = linalg.negf ins(%all : tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  return %turned : tensor<?xf32>
}
