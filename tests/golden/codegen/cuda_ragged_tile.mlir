// What a warp multiplies together stays before the branches that write its sums: beyond the edge of C some of its threads write
// nothing, and would not come to a product there. With few steps no loop holds it either.
// RUN: baton-codegen --arch=sm_80 --emit=asm %s | FileCheck %s
// CHECK: .visible .entry few_steps(
// CHECK: mma.sync
// CHECK: st.global
// CHECK-NOT: mma.sync
// CHECK-NOT: ldmatrix
// CHECK: .visible .entry window(
// CHECK: mma.sync
// CHECK: st.global
// CHECK-NOT: mma.sync
// CHECK-NOT: ldmatrix
// CHECK: .visible .entry small_halves(
// CHECK: mma.sync
// CHECK: st.global
// CHECK-NOT: mma.sync
// CHECK-NOT: ldmatrix
func.func @few_steps(%a: tensor<20x16xf16>, %b: tensor<16x64xf16>) -> tensor<20x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x64xf32>) -> tensor<20x64xf32>
  %r = linalg.matmul ins(%a, %b : tensor<20x16xf16>, tensor<16x64xf16>) outs(%f : tensor<20x64xf32>) -> tensor<20x64xf32>
  return %r : tensor<20x64xf32>
}
func.func @window(%x: tensor<1x24xbf16>, %w: tensor<5x64xbf16>) -> tensor<1x20x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x20x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x20x64xf32>) -> tensor<1x20x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, p, m, t) -> (n, p + t)>, affine_map<(n, p, m, t) -> (t, m)>,
                                        affine_map<(n, p, m, t) -> (n, p, m)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x24xbf16>, tensor<5x64xbf16>) outs(%f : tensor<1x20x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x20x64xf32>
  return %r : tensor<1x20x64xf32>
}
func.func @small_halves(%a: tensor<37x24xf16>, %b: tensor<24x70xf16>) -> tensor<37x70xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<37x70xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<37x70xf16>) -> tensor<37x70xf16>
  %r = linalg.matmul ins(%a, %b : tensor<37x24xf16>, tensor<24x70xf16>) outs(%f : tensor<37x70xf16>) -> tensor<37x70xf16>
  return %r : tensor<37x70xf16>
}
