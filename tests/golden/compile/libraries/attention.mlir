// Attention on halves stays one kernel beside a library, which would have to hold all scores in memory; another product of the program is
// the library's. In f32 the products of attention are the library's, too.
// RUN: baton-compile --target-device=cuda --library=cublas --explain %s -o %t.bvm 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: baton-dump-module %t.bvm --section=executables | FileCheck %s
// SAID-COUNT-2: a product, stays generated: it is part of attention, which is one kernel
// SAID: a product of 256x256x256 in f16 f16 f16: cublas.gemm, else generated
// SAID: a product of 256x256x64 in f32 f32 f32: cublas.gemm, else generated
// CHECK: launches halves_{{[0-9]+}}_batch_matmul with 0 constants, 4 bindings, 128 x 1 x 1 threads

func.func @halves(%q: tensor<3x256x64xf16>, %k: tensor<3x256x64xf16>, %v: tensor<3x256x64xf16>) -> tensor<3x256x64xf16> {
  %zero = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<3x256x256xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<3x256x256xf16>) -> tensor<3x256x256xf16>
  %s = linalg.batch_matmul_transpose_b ins(%q, %k : tensor<3x256x64xf16>, tensor<3x256x64xf16>) outs(%fs : tensor<3x256x256xf16>) -> tensor<3x256x256xf16>
  %w = linalg.softmax dimension(2) ins(%s : tensor<3x256x256xf16>) outs(%es : tensor<3x256x256xf16>) -> tensor<3x256x256xf16>
  %er = tensor.empty() : tensor<3x256x64xf16>
  %fr = linalg.fill ins(%zero : f16) outs(%er : tensor<3x256x64xf16>) -> tensor<3x256x64xf16>
  %r = linalg.batch_matmul ins(%w, %v : tensor<3x256x256xf16>, tensor<3x256x64xf16>) outs(%fr : tensor<3x256x64xf16>) -> tensor<3x256x64xf16>
  return %r : tensor<3x256x64xf16>
}

func.func @other(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>) -> tensor<256x256xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<256x256xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<256x256xf16>) -> tensor<256x256xf16>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%f : tensor<256x256xf16>) -> tensor<256x256xf16>
  return %r : tensor<256x256xf16>
}

func.func @floats(%q: tensor<256x64xf32>, %k: tensor<256x64xf32>, %v: tensor<256x64xf32>) -> tensor<256x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<256x256xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = linalg.matmul_transpose_b ins(%q, %k : tensor<256x64xf32>, tensor<256x64xf32>) outs(%fs : tensor<256x256xf32>) -> tensor<256x256xf32>
  %w = linalg.softmax dimension(1) ins(%s : tensor<256x256xf32>) outs(%es : tensor<256x256xf32>) -> tensor<256x256xf32>
  %er = tensor.empty() : tensor<256x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<256x64xf32>) -> tensor<256x64xf32>
  %r = linalg.matmul ins(%w, %v : tensor<256x256xf32>, tensor<256x64xf32>) outs(%fr : tensor<256x64xf32>) -> tensor<256x64xf32>
  return %r : tensor<256x64xf32>
}
