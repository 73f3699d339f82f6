// A transposed convolution of stride 2 is four sums, of one to four taps, and reads no zeros between elements; what it
// computes is what the zeros gave. Blocks of threads keep one sum.
// RUN: baton-compile --compile-to=flow %s | FileCheck %s --check-prefix=PHASES
// RUN: baton-compile --compile-to=flow --target-backends=cuda %s | FileCheck %s --check-prefix=BLOCKS
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=up --input=1x2x2x1xf32=1,2,3,4 --input=3x3x1x1xf32=1,2,3,4,5,6,7,8,9 | FileCheck %s --check-prefix=UP
// RUN: baton-run-module %t.bvm --device=local-sync --function=apart --input=3xf32=1,2,3 --input=1xf32=5 | FileCheck %s --check-prefix=APART

// PHASES-LABEL: util.func public @up
// PHASES-NOT: 6x6
// PHASES-COUNT-4: flow.dispatch {{.*}}insert_slice(
// PHASES-NOT: insert_slice(
// PHASES: util.func public @apart
// BLOCKS-LABEL: util.func public @up
// BLOCKS: flow.dispatch {{.*}} -> tensor<1x6x6x1xf32>
// UP: 1x4x4x1xf32={{\[\[\[}}5][16][10][8]]{{\[\[}}26][64][36][30]]{{\[\[}}15][36][20][16]]{{\[\[}}6][15][8][4]]]
#image = affine_map<(n, y, x, o, u, v, i) -> (n, y + u, x + v, i)>
#taps = affine_map<(n, y, x, o, u, v, i) -> (u, v, i, o)>
#sums = affine_map<(n, y, x, o, u, v, i) -> (n, y, x, o)>
func.func @up(%image: tensor<1x2x2x1xf32>, %taps: tensor<3x3x1x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x6x6x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<1x6x6x1xf32>) -> tensor<1x6x6x1xf32>
  %spread = tensor.insert_slice %image into %zeros[0, 1, 1, 0] [1, 2, 2, 1] [1, 2, 2, 1] : tensor<1x2x2x1xf32> into tensor<1x6x6x1xf32>
  %r = tensor.empty() : tensor<1x4x4x1xf32>
  %none = linalg.fill ins(%zero : f32) outs(%r : tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %sums = linalg.generic {indexing_maps = [#image, #taps, #sums],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%spread, %taps : tensor<1x6x6x1xf32>, tensor<3x3x1x1xf32>) outs(%none : tensor<1x4x4x1xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x4x4x1xf32>
  return %sums : tensor<1x4x4x1xf32>
}

// One tap meets an element at every third place; between them nothing is summed.
// APART: 9xf32=0 5 0 0 10 0 0 15 0
func.func @apart(%line: tensor<3xf32>, %tap: tensor<1xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %spread = tensor.insert_slice %line into %zeros[1] [3] [3] : tensor<3xf32> into tensor<9xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(x, v) -> (x + v)>, affine_map<(x, v) -> (v)>, affine_map<(x, v) -> (x)>],
      iterator_types = ["parallel", "reduction"]} ins(%spread, %tap : tensor<9xf32>, tensor<1xf32>) outs(%zeros : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<9xf32>
  return %sums : tensor<9xf32>
}
