// Code for a newer architecture wants more local memory: the program asks the device which of the two it takes.
// RUN: baton-compile --target-device=cuda --compile-to=hal %s | FileCheck %s
// CHECK: %[[KNOWN:.*]]:2 = util.call @hal.device.query(
// CHECK: %[[NEWER:.*]] = arith.cmpi ne, %[[KNOWN]]#1
// CHECK: %[[BYTES:.*]] = arith.select %[[NEWER]], %c49152_i32, %c12288_i32
// CHECK: vm.call.variadic @hal.executable.create_with_entry_points({{.*}}%[[BYTES]]{{.*}}) segments([2, 1])
func.func @halves(%a: tensor<64x128xf16>, %b: tensor<128x128xf16>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x128xf16>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
