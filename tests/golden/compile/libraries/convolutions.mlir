// A convolution that a library takes stands for several kernels: none of them is recorded where the library is there, all of them where it isn't.
// REQUIRES: native
// RUN: baton-compile --library=cudnn,cublas --explain %s -o %t.bvm 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: baton-compile --library=cudnn %s --dump-schedule | FileCheck %s --check-prefix=PLAN
// RUN: baton-run-module --device=null --device_trace=- --module=%libraries/cudnn.so --module=%libraries/cublas.so --module=%t.bvm --function=forward --input=4x64x56x56xf32 --input=64x64x3x3xf32 | FileCheck %s --check-prefix=TAKEN --implicit-check-not=dispatch
// RUN: baton-run-module --device=null --device_trace=- --module=%t.bvm --function=forward --input=4x64x56x56xf32 --input=64x64x3x3xf32 | FileCheck %s --check-prefix=GENERATED

// EXPLAIN: convolutions.mlir:[[#@LINE+15]]:8: a convolution of 4x56x56 by 3x3, 64 to 64 channels in f32 f32 f32: cudnn.convolution, else generated; cublas: has no row for convolutions
// PLAN: recording forward.0
// PLAN: dispatch forward_0_{{[a-z]+}} unless library.cudnn
// PLAN: or cudnn.convolution
// TAKEN: foreign function=cudnn.convolution 4x56x56 by 3x3, 64 to 64 channels
// GENERATED: dispatch entry_point=dispatch_groups.forward_0_
// GENERATED: dispatch entry_point=dispatch_groups.forward_1_
func.func @forward(%x: tensor<4x64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<4x64x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<4x64x56x56xf32> to tensor<4x64x58x58xf32>
  %e = tensor.empty() : tensor<4x64x56x56xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x64x56x56xf32>) -> tensor<4x64x56x56xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<4x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%f : tensor<4x64x56x56xf32>) -> tensor<4x64x56x56xf32>
  return %r : tensor<4x64x56x56xf32>
}

// What somebody else reads is written all the same.
// PLAN: recording both.0
// PLAN: dispatch both_2_pad r
// PLAN: or cudnn.convolution
func.func @both(%x: tensor<4x56x56x64xf32>, %w: tensor<3x3x64x64xf32>) -> (tensor<4x56x56x64xf32>, tensor<4x58x58x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<4x56x56x64xf32> to tensor<4x58x58x64xf32>
  %e = tensor.empty() : tensor<4x56x56x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x56x56x64xf32>) -> tensor<4x56x56x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<4x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<4x56x56x64xf32>) -> tensor<4x56x56x64xf32>
  return %r, %p : tensor<4x56x56x64xf32>, tensor<4x58x58x64xf32>
}

// What stays generated, and why.
// EXPLAIN: a convolution of 2x8x8 by 3x3, 4 to 4 channels in f32 f32 f32, stays generated; cudnn: has 10368 multiplications, and it is worth it from 50000000 on; cublas: has no row for convolutions
func.func @small(%x: tensor<2x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<2x4x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) outs(%f : tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  return %r : tensor<2x4x6x6xf32>
}
