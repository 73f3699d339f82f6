// Code for a newer architecture wants more local memory: its variant says so.
// RUN: baton-compile --target-device=cuda --compile-to=hal %s | FileCheck %s
// CHECK: vm.executable @dispatch_groups entry_points [{{{.*}}launch = array<i64: {{[0-9]+}}, 1, 1, 12288>
// CHECK-SAME: format = "cuda-ptx-compute_80", launches = [array<i64: {{[0-9]+}}, 1, 1, 49152>], target = "sm_80"
// CHECK-SAME: format = "cuda-ptx-compute_75", target = "sm_75"
// CHECK-NOT: hal.device.query
func.func @halves(%a: tensor<64x128xf16>, %b: tensor<128x128xf16>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x128xf16>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
