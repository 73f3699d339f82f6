// An attention that a library takes is one command, with transposes in its strides; else it is one kernel. Whose mask, type or size no row takes
// stays generated, and so does one of which something else is computed.
// REQUIRES: native
// RUN: baton-compile --target-device=cuda --library=cudnn --explain %s -o %t.bvm 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: baton-run-module --device=null --device_trace=- --module=%libraries/cudnn.so --module=%t.bvm --function=causal --input=512x16x64xf16 --input=16x512x64xf16 --input=16x512x64xf16 | FileCheck %s --check-prefix=TAKEN
// RUN: baton-run-module --device=null --device_trace=- --module=%t.bvm --function=causal --input=512x16x64xf16 --input=16x512x64xf16 --input=16x512x64xf16 | FileCheck %s --check-prefix=GENERATED

// SAID-DAG: attention of 1x16 heads, 512 rows of 512 keys up to the row's own in f16: cudnn.attention, else generated
// SAID-DAG: attention of 1x16 heads, 512 rows of 512 keys in f32, stays generated; cudnn: takes no f32
// SAID-DAG: attention of 1x16 heads, 512 rows of 512 keys in bf16, stays generated; cudnn: takes no rows of 60 elements
// SAID-DAG: attention of 1x1 heads, 512 rows of 512 keys in f16, stays generated; cudnn: has 33554432 multiplications, and it is worth it from 50000000 on
// SAID-DAG: attention, stays generated: something is computed of its result
// SAID-DAG: attention, stays generated: it has a size that is known at run time alone
// TAKEN: foreign function=cudnn.attention 1x16 heads, 512 rows of 512 keys, 64 elements, causal constants=[] bindings=[slot 0=buffer 0[0, 1048576) read, slot 1=buffer 1[0, 1048576) read, slot 2=buffer 2[0, 1048576) read, slot 3=buffer 3[0, 1048576) write]
// GENERATED: dispatch entry_point=dispatch_groups.causal_{{[0-9]+}}
#in_order = affine_map<(h, q, k) -> (h, q, k)>

func.func @causal(%q: tensor<512x16x64xf16>, %k: tensor<16x512x64xf16>, %v: tensor<16x512x64xf16>) -> tensor<512x16x64xf16> {
  %zero = arith.constant 0.0 : f16
  %eighth = arith.constant 0.125 : f16
  %least = arith.constant 0xFC00 : f16
  %es = tensor.empty() : tensor<16x512x512xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(h, q, k, d) -> (q, h, d)>, affine_map<(h, q, k, d) -> (h, k, d)>, affine_map<(h, q, k, d) -> (h, q, k)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<512x16x64xf16>, tensor<16x512x64xf16>) outs(%fs : tensor<16x512x512xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %p = arith.mulf %a, %b : f16
    %t = arith.addf %c, %p : f16
    linalg.yield %t : f16
  } -> tensor<16x512x512xf16>
  %m = linalg.generic {indexing_maps = [#in_order, #in_order], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<16x512x512xf16>) outs(%es : tensor<16x512x512xf16>) {
  ^bb0(%a: f16, %c: f16):
    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %counts = arith.cmpi sle, %key, %row : index
    %x = arith.mulf %a, %eighth : f16
    %y = arith.select %counts, %x, %least : f16
    linalg.yield %y : f16
  } -> tensor<16x512x512xf16>
  %w = linalg.softmax dimension(2) ins(%m : tensor<16x512x512xf16>) outs(%es : tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %er = tensor.empty() : tensor<512x16x64xf16>
  %fr = linalg.fill ins(%zero : f16) outs(%er : tensor<512x16x64xf16>) -> tensor<512x16x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(h, q, d, k) -> (h, q, k)>, affine_map<(h, q, d, k) -> (h, k, d)>, affine_map<(h, q, d, k) -> (q, h, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<16x512x512xf16>, tensor<16x512x64xf16>) outs(%fr : tensor<512x16x64xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %p = arith.mulf %a, %b : f16
    %t = arith.addf %c, %p : f16
    linalg.yield %t : f16
  } -> tensor<512x16x64xf16>
  return %r : tensor<512x16x64xf16>
}

func.func @floats(%q: tensor<16x512x64xf32>, %k: tensor<16x512x64xf32>, %v: tensor<16x512x64xf32>) -> tensor<16x512x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<16x512x512xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x512x512xf32>) -> tensor<16x512x512xf32>
  %s = linalg.batch_matmul_transpose_b ins(%q, %k : tensor<16x512x64xf32>, tensor<16x512x64xf32>) outs(%fs : tensor<16x512x512xf32>) -> tensor<16x512x512xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<16x512x512xf32>) outs(%es : tensor<16x512x512xf32>) -> tensor<16x512x512xf32>
  %er = tensor.empty() : tensor<16x512x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<16x512x64xf32>) -> tensor<16x512x64xf32>
  %r = linalg.batch_matmul ins(%w, %v : tensor<16x512x512xf32>, tensor<16x512x64xf32>) outs(%fr : tensor<16x512x64xf32>) -> tensor<16x512x64xf32>
  return %r : tensor<16x512x64xf32>
}

func.func @odd(%q: tensor<16x512x60xbf16>, %k: tensor<16x512x60xbf16>, %v: tensor<16x512x60xbf16>) -> tensor<16x512x60xbf16> {
  %zero = arith.constant 0.0 : bf16
  %es = tensor.empty() : tensor<16x512x512xbf16>
  %fs = linalg.fill ins(%zero : bf16) outs(%es : tensor<16x512x512xbf16>) -> tensor<16x512x512xbf16>
  %s = linalg.batch_matmul_transpose_b ins(%q, %k : tensor<16x512x60xbf16>, tensor<16x512x60xbf16>) outs(%fs : tensor<16x512x512xbf16>) -> tensor<16x512x512xbf16>
  %w = linalg.softmax dimension(2) ins(%s : tensor<16x512x512xbf16>) outs(%es : tensor<16x512x512xbf16>) -> tensor<16x512x512xbf16>
  %er = tensor.empty() : tensor<16x512x60xbf16>
  %fr = linalg.fill ins(%zero : bf16) outs(%er : tensor<16x512x60xbf16>) -> tensor<16x512x60xbf16>
  %r = linalg.batch_matmul ins(%w, %v : tensor<16x512x512xbf16>, tensor<16x512x60xbf16>) outs(%fr : tensor<16x512x60xbf16>) -> tensor<16x512x60xbf16>
  return %r : tensor<16x512x60xbf16>
}

func.func @small(%q: tensor<1x512x64xf16>, %k: tensor<1x512x64xf16>, %v: tensor<1x512x64xf16>) -> tensor<1x512x64xf16> {
  %zero = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<1x512x512xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<1x512x512xf16>) -> tensor<1x512x512xf16>
  %s = linalg.batch_matmul_transpose_b ins(%q, %k : tensor<1x512x64xf16>, tensor<1x512x64xf16>) outs(%fs : tensor<1x512x512xf16>) -> tensor<1x512x512xf16>
  %w = linalg.softmax dimension(2) ins(%s : tensor<1x512x512xf16>) outs(%es : tensor<1x512x512xf16>) -> tensor<1x512x512xf16>
  %er = tensor.empty() : tensor<1x512x64xf16>
  %fr = linalg.fill ins(%zero : f16) outs(%er : tensor<1x512x64xf16>) -> tensor<1x512x64xf16>
  %r = linalg.batch_matmul ins(%w, %v : tensor<1x512x512xf16>, tensor<1x512x64xf16>) outs(%fr : tensor<1x512x64xf16>) -> tensor<1x512x64xf16>
  return %r : tensor<1x512x64xf16>
}

func.func @more(%q: tensor<16x512x64xf16>, %k: tensor<16x512x64xf16>, %v: tensor<16x512x64xf16>) -> tensor<16x512x64xf16> {
  %zero = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<16x512x512xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %s = linalg.batch_matmul_transpose_b ins(%q, %k : tensor<16x512x64xf16>, tensor<16x512x64xf16>) outs(%fs : tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %w = linalg.softmax dimension(2) ins(%s : tensor<16x512x512xf16>) outs(%es : tensor<16x512x512xf16>) -> tensor<16x512x512xf16>
  %er = tensor.empty() : tensor<16x512x64xf16>
  %fr = linalg.fill ins(%zero : f16) outs(%er : tensor<16x512x64xf16>) -> tensor<16x512x64xf16>
  %r = linalg.batch_matmul ins(%w, %v : tensor<16x512x512xf16>, tensor<16x512x64xf16>) outs(%fr : tensor<16x512x64xf16>) -> tensor<16x512x64xf16>
  %z = linalg.exp ins(%r : tensor<16x512x64xf16>) outs(%er : tensor<16x512x64xf16>) -> tensor<16x512x64xf16>
  return %z : tensor<16x512x64xf16>
}

func.func @open(%q: tensor<?x512x64xf16>, %k: tensor<?x512x64xf16>, %v: tensor<?x512x64xf16>) -> tensor<?x512x64xf16> {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x512x64xf16>
  %es = tensor.empty(%n) : tensor<?x512x512xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<?x512x512xf16>) -> tensor<?x512x512xf16>
  %s = linalg.batch_matmul_transpose_b ins(%q, %k : tensor<?x512x64xf16>, tensor<?x512x64xf16>) outs(%fs : tensor<?x512x512xf16>) -> tensor<?x512x512xf16>
  %w = linalg.softmax dimension(2) ins(%s : tensor<?x512x512xf16>) outs(%es : tensor<?x512x512xf16>) -> tensor<?x512x512xf16>
  %er = tensor.empty(%n) : tensor<?x512x64xf16>
  %fr = linalg.fill ins(%zero : f16) outs(%er : tensor<?x512x64xf16>) -> tensor<?x512x64xf16>
  %r = linalg.batch_matmul ins(%w, %v : tensor<?x512x512xf16>, tensor<?x512x64xf16>) outs(%fr : tensor<?x512x64xf16>) -> tensor<?x512x64xf16>
  return %r : tensor<?x512x64xf16>
}
