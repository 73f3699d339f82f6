// Matrix products: tiles that fit and that don't, batches, turned operands, other types, what follows a product.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CHECK: .target sm_75
// CHECK-NOT: .extern .func
// CHECK: .visible .entry
// CASE: dynamic --input=100x70=f32 --input=70x90=f32
// CASE: dynamic --input=1x1=f32 --input=1x1=f32
// CASE: dynamic --input=64x64=f32 --input=64x64=f32
// CASE: large --input=256x64=f32 --input=64x256=f32
// CASE: largest --input=2048x40=f32:unit --input=40x2048=f32:unit
// CASE: onto --input=65x33=f32 --input=33x129=f32 --input=65x129=f32
// CASE: turned_a --input=70x100=f32 --input=70x90=f32
// CASE: turned_b --input=100x70=f32 --input=90x70=f32
// CASE: batch --input=3x20x40=f32 --input=3x40x50=f32
// CASE: bytes --input=65x33=i8 --input=33x129=i8
// CASE: halves --input=65x33=f16 --input=33x129=f16
// CASE: doubles --input=65x33=f64 --input=33x129=f64
// CASE: layer --input=40x64=f32 --input=64x48=f32 --input=48=f32
// CASE: two_layers --input=40x64=f32 --input=64x48=f32 --input=48x10=f32
// CASE: vector --input=100x70=f32 --input=70=f32
// CASE: dot --input=1000=f32 --input=1000=f32
// CASE: conv --input=1x12x12x3=f32 --input=3x3x3x8=f32
// CASE: depthwise --input=1x12x12x8=f32 --input=3x3x8=f32
func.func @dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @large(%a: tensor<256x64xf32>, %b: tensor<64x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x64xf32>, tensor<64x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
// Of whose tiles threads compute squares of 8 x 8.
func.func @largest(%a: tensor<2048x40xf32>, %b: tensor<40x2048xf32>) -> tensor<34x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2048x40xf32>, tensor<40x2048xf32>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %some = tensor.extract_slice %r[0, 0] [34, 512] [61, 4] : tensor<2048x2048xf32> to tensor<34x512xf32>
  return %some : tensor<34x512xf32>
}
func.func @onto(%a: tensor<65x33xf32>, %b: tensor<33x129xf32>, %c: tensor<65x129xf32>) -> tensor<65x129xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<65x33xf32>, tensor<33x129xf32>) outs(%c : tensor<65x129xf32>) -> tensor<65x129xf32>
  return %r : tensor<65x129xf32>
}
func.func @turned_a(%a: tensor<70x100xf32>, %b: tensor<70x90xf32>) -> tensor<100x90xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x90xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x90xf32>) -> tensor<100x90xf32>
  %r = linalg.matmul_transpose_a ins(%a, %b : tensor<70x100xf32>, tensor<70x90xf32>) outs(%f : tensor<100x90xf32>) -> tensor<100x90xf32>
  return %r : tensor<100x90xf32>
}
func.func @turned_b(%a: tensor<100x70xf32>, %b: tensor<90x70xf32>) -> tensor<100x90xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x90xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x90xf32>) -> tensor<100x90xf32>
  %r = linalg.matmul_transpose_b ins(%a, %b : tensor<100x70xf32>, tensor<90x70xf32>) outs(%f : tensor<100x90xf32>) -> tensor<100x90xf32>
  return %r : tensor<100x90xf32>
}
func.func @batch(%a: tensor<3x20x40xf32>, %b: tensor<3x40x50xf32>) -> tensor<3x20x50xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x20x50xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x20x50xf32>) -> tensor<3x20x50xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x20x40xf32>, tensor<3x40x50xf32>) outs(%f : tensor<3x20x50xf32>) -> tensor<3x20x50xf32>
  return %r : tensor<3x20x50xf32>
}
func.func @bytes(%a: tensor<65x33xi8>, %b: tensor<33x129xi8>) -> tensor<65x129xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<65x129xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<65x129xi32>) -> tensor<65x129xi32>
  %r = linalg.matmul ins(%a, %b : tensor<65x33xi8>, tensor<33x129xi8>) outs(%f : tensor<65x129xi32>) -> tensor<65x129xi32>
  return %r : tensor<65x129xi32>
}
func.func @halves(%a: tensor<65x33xf16>, %b: tensor<33x129xf16>) -> tensor<65x129xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<65x129xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<65x129xf32>) -> tensor<65x129xf32>
  %r = linalg.matmul ins(%a, %b : tensor<65x33xf16>, tensor<33x129xf16>) outs(%f : tensor<65x129xf32>) -> tensor<65x129xf32>
  return %r : tensor<65x129xf32>
}
func.func @doubles(%a: tensor<65x33xf64>, %b: tensor<33x129xf64>) -> tensor<65x129xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<65x129xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<65x129xf64>) -> tensor<65x129xf64>
  %r = linalg.matmul ins(%a, %b : tensor<65x33xf64>, tensor<33x129xf64>) outs(%f : tensor<65x129xf64>) -> tensor<65x129xf64>
  return %r : tensor<65x129xf64>
}
func.func @layer(%a: tensor<40x64xf32>, %w: tensor<64x48xf32>, %bias: tensor<48xf32>) -> tensor<40x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x48xf32>) -> tensor<40x48xf32>
  %p = linalg.matmul ins(%a, %w : tensor<40x64xf32>, tensor<64x48xf32>) outs(%f : tensor<40x48xf32>) -> tensor<40x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<40x48xf32>, tensor<48xf32>) outs(%e : tensor<40x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %none = arith.constant 0.0 : f32
      %s = arith.addf %x, %y : f32
      %m = arith.maximumf %s, %none : f32
      linalg.yield %m : f32
  } -> tensor<40x48xf32>
  return %r : tensor<40x48xf32>
}
func.func @two_layers(%a: tensor<40x64xf32>, %w: tensor<64x48xf32>, %v: tensor<48x10xf32>) -> tensor<40x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x48xf32>) -> tensor<40x48xf32>
  %p = linalg.matmul ins(%a, %w : tensor<40x64xf32>, tensor<64x48xf32>) outs(%f : tensor<40x48xf32>) -> tensor<40x48xf32>
  %t = math.tanh %p : tensor<40x48xf32>
  %g = tensor.empty() : tensor<40x10xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<40x10xf32>) -> tensor<40x10xf32>
  %r = linalg.matmul ins(%t, %v : tensor<40x48xf32>, tensor<48x10xf32>) outs(%h : tensor<40x10xf32>) -> tensor<40x10xf32>
  return %r : tensor<40x10xf32>
}
func.func @vector(%a: tensor<100x70xf32>, %b: tensor<70xf32>) -> tensor<100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %r = linalg.matvec ins(%a, %b : tensor<100x70xf32>, tensor<70xf32>) outs(%f : tensor<100xf32>) -> tensor<100xf32>
  return %r : tensor<100xf32>
}
func.func @dot(%a: tensor<1000xf32>, %b: tensor<1000xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.dot ins(%a, %b : tensor<1000xf32>, tensor<1000xf32>) outs(%f : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func @conv(%a: tensor<1x12x12x3xf32>, %w: tensor<3x3x3x8xf32>) -> tensor<1x10x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x10x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10x10x8xf32>) -> tensor<1x10x10x8xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %w : tensor<1x12x12x3xf32>, tensor<3x3x3x8xf32>) outs(%f : tensor<1x10x10x8xf32>) -> tensor<1x10x10x8xf32>
  return %r : tensor<1x10x10x8xf32>
}
func.func @depthwise(%a: tensor<1x12x12x8xf32>, %w: tensor<3x3x8xf32>) -> tensor<1x10x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x10x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10x10x8xf32>) -> tensor<1x10x10x8xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%a, %w : tensor<1x12x12x8xf32>, tensor<3x3x8xf32>) outs(%f : tensor<1x10x10x8xf32>) -> tensor<1x10x10x8xf32>
  return %r : tensor<1x10x10x8xf32>
}
