// What reads along one dimension and writes along another: whole squares, what is left of them, odd strides, other
// types, more dimensions, several operands.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CHECK: .target sm_75
// CHECK: .visible .entry
// CASE: turn --input=128x64=f32
// CASE: turn --input=100x70=f32
// CASE: turn --input=65x33=f32
// CASE: turn --input=1x300=f32
// CASE: turn --input=300x1=f32
// CASE: halves --input=128x192=f16
// CASE: halves --input=70x100=f16
// CASE: bytes --input=128x192=i8
// CASE: bytes --input=70x100=i8
// CASE: doubles --input=64x192=f64
// CASE: doubles --input=70x100=f64
// CASE: truths --input=64x100=i1
// CASE: to_last --input=3x64x128=f32
// CASE: to_first --input=64x5x128=f32
// CASE: around --input=4x64x3x72=f32
// CASE: with --input=64x128=f32 --input=128x64=f32 --input=64=f32
// CASE: two --input=64x128=f32 --input=64x128=f32
func.func @turn(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  return %r : tensor<?x?xf32>
}
func.func @halves(%a: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %a, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%n, %m) : tensor<?x?xf16>
  %r = linalg.transpose ins(%a : tensor<?x?xf16>) outs(%e : tensor<?x?xf16>) permutation = [1, 0]
  return %r : tensor<?x?xf16>
}
func.func @bytes(%a: tensor<?x?xi8>) -> tensor<?x?xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %a, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%n, %m) : tensor<?x?xi8>
  %r = linalg.transpose ins(%a : tensor<?x?xi8>) outs(%e : tensor<?x?xi8>) permutation = [1, 0]
  return %r : tensor<?x?xi8>
}
func.func @doubles(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64>
  %r = linalg.transpose ins(%a : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) permutation = [1, 0]
  return %r : tensor<?x?xf64>
}
func.func @truths(%a: tensor<64x100xi1>) -> tensor<100x64xi1> {
  %e = tensor.empty() : tensor<100x64xi1>
  %r = linalg.transpose ins(%a : tensor<64x100xi1>) outs(%e : tensor<100x64xi1>) permutation = [1, 0]
  return %r : tensor<100x64xi1>
}
func.func @to_last(%a: tensor<3x64x128xf32>) -> tensor<3x128x64xf32> {
  %e = tensor.empty() : tensor<3x128x64xf32>
  %r = linalg.transpose ins(%a : tensor<3x64x128xf32>) outs(%e : tensor<3x128x64xf32>) permutation = [0, 2, 1]
  return %r : tensor<3x128x64xf32>
}
func.func @to_first(%a: tensor<64x5x128xf32>) -> tensor<128x5x64xf32> {
  %e = tensor.empty() : tensor<128x5x64xf32>
  %r = linalg.transpose ins(%a : tensor<64x5x128xf32>) outs(%e : tensor<128x5x64xf32>) permutation = [2, 1, 0]
  return %r : tensor<128x5x64xf32>
}
func.func @around(%a: tensor<4x64x3x72xf32>) -> tensor<3x72x4x64xf32> {
  %e = tensor.empty() : tensor<3x72x4x64xf32>
  %r = linalg.transpose ins(%a : tensor<4x64x3x72xf32>) outs(%e : tensor<3x72x4x64xf32>) permutation = [2, 3, 0, 1]
  return %r : tensor<3x72x4x64xf32>
}
#all = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @with(%a: tensor<64x128xf32>, %b: tensor<128x64xf32>, %c: tensor<64xf32>) -> tensor<128x64xf32> {
  %e = tensor.empty() : tensor<128x64xf32>
  %r = linalg.generic {indexing_maps = [#turned, #all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<64x128xf32>, tensor<128x64xf32>, tensor<64xf32>) outs(%e : tensor<128x64xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %p, %z : f32
      linalg.yield %s : f32
  } -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}
func.func @two(%a: tensor<64x128xf32>, %b: tensor<64x128xf32>) -> tensor<128x64xf32> {
  %e = tensor.empty() : tensor<128x64xf32>
  %r = linalg.generic {indexing_maps = [#turned, #turned, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<64x128xf32>, tensor<64x128xf32>) outs(%e : tensor<128x64xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %i = linalg.index 0 : index
      %n = arith.index_cast %i : index to i32
      %f = arith.sitofp %n : i32 to f32
      %p = arith.subf %x, %y : f32
      %s = arith.addf %p, %f : f32
      linalg.yield %s : f32
  } -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}
