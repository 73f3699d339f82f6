// Attention whose last operation converts the result is one kernel, also where its second product alone would be divided along
// the keys; a mask goes with it, and whether a query sees any key is computed before.
// RUN: baton-compile --target-device=cuda --dump-schedule %s | FileCheck %s

// CHECK: recording plain.0
// CHECK-NOT: transient
// CHECK: dispatch plain_{{[0-9]}}_generic r {{.*}}[0 for 262144] r {{.*}}[0 for 524288] r {{.*}}[0 for 524288] w {{.*}}[0 for 262144]
// CHECK-NOT: dispatch
func.func @plain(%q: tensor<8x256x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>) -> tensor<8x256x64xf16> {
  %scale = arith.constant 0.125 : f16
  %out = tensor.empty() : tensor<8x256x64xf16>
  %r = iree_linalg_ext.attention <indexing_maps = [affine_map<(b, m, n, c, k) -> (b, m, c)>, affine_map<(b, m, n, c, k) -> (b, k, c)>,
      affine_map<(b, m, n, c, k) -> (b, k, n)>, affine_map<(b, m, n, c, k) -> ()>, affine_map<(b, m, n, c, k) -> (b, m, n)>]>
      ins(%q, %k, %v, %scale : tensor<8x256x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>, f16) outs(%out : tensor<8x256x64xf16>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<8x256x64xf16>
  return %r : tensor<8x256x64xf16>
}

// CHECK: recording masked.0
// CHECK: dispatch masked_{{[0-9]}}_generic r [[MASK:%[0-9]+]][0 for 1048576] w [[SEEN:%[0-9]+]][0 for 2048]
// CHECK: dispatch masked_{{[0-9]}}_generic {{.*}} r [[MASK]][0 for 1048576] {{.*}} r [[SEEN]][0 for 2048] w {{.*}}[0 for 262144]
// CHECK-NOT: dispatch
func.func @masked(%q: tensor<8x256x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>, %seen: tensor<8x256x512xi1>) -> tensor<8x256x64xf16> {
  %scale = arith.constant 0.125 : f16
  %out = tensor.empty() : tensor<8x256x64xf16>
  %r = iree_linalg_ext.attention <indexing_maps = [affine_map<(b, m, n, c, k) -> (b, m, c)>, affine_map<(b, m, n, c, k) -> (b, k, c)>,
      affine_map<(b, m, n, c, k) -> (b, k, n)>, affine_map<(b, m, n, c, k) -> ()>, affine_map<(b, m, n, c, k) -> (b, m, k)>, affine_map<(b, m, n, c, k) -> (b, m, n)>]>
      ins(%q, %k, %v, %scale, %seen : tensor<8x256x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>, f16, tensor<8x256x512xi1>) outs(%out : tensor<8x256x64xf16>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<8x256x64xf16>
  return %r : tensor<8x256x64xf16>
}
