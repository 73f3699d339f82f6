// What reads along one dimension and writes along another: whole squares, what is left of them, odd strides, other
// types, more dimensions, several operands.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CHECK: .target sm_75
// CHECK: .visible .entry
// RUN: baton-compile --target-device=cuda --dump-schedule %s | FileCheck --check-prefix=ONE %s
// ONE-LABEL: recording repeated.0
// ONE-COUNT-1: {{^  dispatch}}
// ONE-NOT: {{^  dispatch}}
// ONE-LABEL: recording every_second.0
// ONE-COUNT-1: {{^  dispatch}}
// ONE-NOT: {{^  dispatch}}
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
// CASE: patches --input=2x3x5x16x7x16=f32
// CASE: shuffled --input=2x5x2x2x9x64=f16
// CASE: of_three --input=5000x3=f32
// CASE: odd --input=5x31x11x37x7=f32
// CASE: repeated --input=3x40x70=f32
// CASE: every_second --input=90x130=f32
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
// Squares would be empty for the most part: one side has 3, 2 or 7 elements.
func.func @patches(%a: tensor<2x3x5x16x7x16xf32>) -> tensor<2x5x7x16x16x3xf32> {
  %e = tensor.empty() : tensor<2x5x7x16x16x3xf32>
  %r = linalg.transpose ins(%a : tensor<2x3x5x16x7x16xf32>) outs(%e : tensor<2x5x7x16x16x3xf32>) permutation = [0, 2, 4, 3, 5, 1]
  return %r : tensor<2x5x7x16x16x3xf32>
}
func.func @shuffled(%a: tensor<2x5x2x2x9x64xf16>) -> tensor<2x5x9x2x64x2xf16> {
  %e = tensor.empty() : tensor<2x5x9x2x64x2xf16>
  %r = linalg.transpose ins(%a : tensor<2x5x2x2x9x64xf16>) outs(%e : tensor<2x5x9x2x64x2xf16>) permutation = [0, 1, 4, 2, 5, 3]
  return %r : tensor<2x5x9x2x64x2xf16>
}
func.func @of_three(%a: tensor<5000x3xf32>) -> tensor<3x5000xf32> {
  %e = tensor.empty() : tensor<3x5000xf32>
  %r = linalg.transpose ins(%a : tensor<5000x3xf32>) outs(%e : tensor<3x5000xf32>) permutation = [1, 0]
  return %r : tensor<3x5000xf32>
}
func.func @odd(%a: tensor<5x31x11x37x7xf32>) -> tensor<7x11x5x37x31xf32> {
  %e = tensor.empty() : tensor<7x11x5x37x31xf32>
  %r = linalg.transpose ins(%a : tensor<5x31x11x37x7xf32>) outs(%e : tensor<7x11x5x37x31xf32>) permutation = [4, 2, 0, 3, 1]
  return %r : tensor<7x11x5x37x31xf32>
}
// Twice along two dimensions, by one kernel.
func.func @repeated(%a: tensor<3x40x70xf32>) -> tensor<3x80x140xf32> {
  %e = tensor.empty() : tensor<3x40x2x70xf32>
  %b = linalg.broadcast ins(%a : tensor<3x40x70xf32>) outs(%e : tensor<3x40x2x70xf32>) dimensions = [2]
  %c = tensor.collapse_shape %b [[0], [1, 2], [3]] : tensor<3x40x2x70xf32> into tensor<3x80x70xf32>
  %f = tensor.empty() : tensor<3x80x70x2xf32>
  %d = linalg.broadcast ins(%c : tensor<3x80x70xf32>) outs(%f : tensor<3x80x70x2xf32>) dimensions = [3]
  %r = tensor.collapse_shape %d [[0], [1], [2, 3]] : tensor<3x80x70x2xf32> into tensor<3x80x140xf32>
  return %r : tensor<3x80x140xf32>
}
// Slices of every second element, which are read where they lie.
func.func @every_second(%a: tensor<90x130xf32>) -> tensor<45x65xf32> {
  %x = tensor.extract_slice %a[0, 0] [45, 65] [2, 2] : tensor<90x130xf32> to tensor<45x65xf32>
  %y = tensor.extract_slice %a[1, 1] [45, 65] [2, 2] : tensor<90x130xf32> to tensor<45x65xf32>
  %e = tensor.empty() : tensor<45x65xf32>
  %r = linalg.sub ins(%x, %y : tensor<45x65xf32>, tensor<45x65xf32>) outs(%e : tensor<45x65xf32>) -> tensor<45x65xf32>
  return %r : tensor<45x65xf32>
}
