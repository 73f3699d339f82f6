// Products of halves for sm_90a: warpgroups multiply slices in shared memory, matrices may lie either way, the windows of a
// convolution are steps of one sum; and for an architecture without warpgroups nothing of it.
// RUN: baton-codegen --arch=sm_90a --emit=asm %s | FileCheck %s
// RUN: baton-codegen --arch=sm_90 --emit=asm %s | FileCheck %s --check-prefix=OLDER
// RUN: baton-codegen --arch=sm_90a --emit=launches %s | FileCheck %s --check-prefix=LAUNCHES
// CHECK: .version 8.0
// CHECK: .target sm_90a
// OLDER-NOT: wgmma

// Rows of B lie across: it is turned. Each warpgroup has 64 rows and all 192 columns. Slices that are brought element by
// element come first.
// CHECK: .visible .entry rows_of_b(
// CHECK: fence.proxy.async.shared::cta;
// CHECK: bar.sync
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 {{.*}}, 1, 1, 1, 0, 1;
// CHECK-NEXT: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: cp.async.cg.shared.global
// CHECK: cp.async.wait_group 1;
// CHECK: fence.proxy.async.shared::cta;
// CHECK: bar.sync
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 {{.*}}, 1, 1, 1, 0, 1;
// CHECK-NEXT: wgmma.commit_group.sync.aligned;
// LAUNCHES: rows_of_b 0 3 256 1 1 {{[0-9]+}}
func.func @rows_of_b(%a: tensor<1792x512xf16>, %b: tensor<512x2560xf16>) -> tensor<1792x2560xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1792x2560xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1792x2560xf32>) -> tensor<1792x2560xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1792x512xf16>, tensor<512x2560xf16>) outs(%f : tensor<1792x2560xf32>) -> tensor<1792x2560xf32>
  return %r : tensor<1792x2560xf32>
}
// Both lie along the steps. Each warpgroup multiplies half of the steps of 64 rows; one writes what both have summed.
// CHECK: .visible .entry columns_of_b(
// CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 0, 0;
// CHECK-NEXT: wgmma.commit_group.sync.aligned;
func.func @columns_of_b(%a: tensor<64x512xbf16>, %b: tensor<64x512xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul_transpose_b ins(%a, %b : tensor<64x512xbf16>, tensor<64x512xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
// A lies across, too; few steps: the warpgroups divide the columns.
// CHECK: .visible .entry few_steps(
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, 1, 1, 1, 1, 1;
// CHECK-NEXT: wgmma.commit_group.sync.aligned;
func.func @few_steps(%a: tensor<64x64xf16>, %b: tensor<64x128xf16>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul_transpose_a ins(%a, %b : tensor<64x64xf16>, tensor<64x128xf16>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
// Nine windows: the sums stay in registers, and C is written once at the end of each of the two ways.
// CHECK: .visible .entry windows(
// CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n64k16
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n64k16
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-NOT: wgmma
// CHECK: ret;
func.func @windows(%x: tensor<1x3x58x64xf16>, %w: tensor<3x3x64x64xf16>) -> tensor<1x1x56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1x56x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x56x64xf32>) -> tensor<1x1x56x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x58x64xf16>, tensor<3x3x64x64xf16>) outs(%f : tensor<1x1x56x64xf32>) -> tensor<1x1x56x64xf32>
  return %r : tensor<1x1x56x64xf32>
}
