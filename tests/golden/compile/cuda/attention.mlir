// Attention on halves and f32 is one kernel, which goes along the keys once: sizes that fit no tile, sizes that only the call knows,
// masks by place and by a tensor, rows that share keys, a result that is turned and goes on element by element. What isn't
// attention, or has no such code, is the kernels that it was.
// Scores of the cases are small: rounded to f16 in between, large ones would be other weights.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: baton-dump-module %t.bvm --section=executables | FileCheck %s
// RUN: baton-compile --target-device=local --target-device=cuda --cpu-levels=avx2 %s -o %t.both.bvm
// RUN: baton-dump-module %t.both.bvm --section=executables | FileCheck %s --check-prefix=BOTH
// CASE: heads --input=3x100x40=f16:unit --input=3x77x40=f16:unit --input=3x77x24=f16
// CASE: sizes --input=2x64x64=f16:unit --input=2x64x64=f16:unit --input=2x64x64=f16
// CASE: sizes --input=3x65x64=f16:unit --input=3x129x64=f16:unit --input=3x129x64=f16
// CASE: sizes --input=1x1x64=f16:unit --input=1x1x64=f16:unit --input=1x1x64=f16
// CASE: sizes --input=1x200x64=f16:unit --input=1x7x64=f16:unit --input=1x7x64=f16:positive
// CASE: causal --input=130x128=f16:unit --input=130x128=f16:unit --input=130x128=f16
// CASE: masked --input=96x33=f16:unit --input=80x33=f16:unit --input=80x50=f16:positive --input=96x80=f16:unit
// CASE: grouped --input=2x70x3x32=f16:unit --input=2x90x32=f16:unit --input=2x90x64=f16 --input=70x2x3x64=f16
// CASE: floats --input=64x32=f32 --input=64x32=f32:unit --input=64x32=f32
// CASE: bfloats --input=150x64=bf16:unit --input=70x64=bf16:unit --input=70x40=bf16
// CASE: doubles --input=64x32=f64 --input=64x32=f64:unit --input=64x32=f64
// CASE: wide --input=64x32=f16:unit --input=64x32=f16:unit --input=64x200=f16
// CASE: other_sum --input=64x32=f16:unit --input=64x32=f16:unit --input=64x32=f16 --input=64x32=f16
// CASE: used_twice --input=64x32=f16:unit --input=64x32=f16:unit --input=64x32=f16

// One kernel for each, by four warps.
// CHECK: for sm_90a
// CHECK-DAG: launches heads_{{[0-9]+}}_batch_matmul with 0 constants, 4 bindings, 128 x 1 x 1 threads
// CHECK-DAG: launches sizes_{{[0-9]+}}_batch_matmul with {{[0-9]+}} constants, 4 bindings, 128 x 1 x 1 threads
// CHECK-DAG: launches causal_{{[0-9]+}}_matmul with 0 constants, 4 bindings, 128 x 1 x 1 threads
// CHECK-DAG: launches masked_{{[0-9]+}}_matmul with 0 constants, 5 bindings, 128 x 1 x 1 threads
// CHECK-DAG: launches grouped_{{[0-9]+}}_generic with 0 constants, 5 bindings, 128 x 1 x 1 threads
// CHECK: for sm_80
// CHECK: entry point heads_{{[0-9]+}}_batch_matmul: 0 constants, bindings read, read, read, write
// CHECK-NEXT: entry point sizes_{{[0-9]+}}_batch_matmul: {{[0-9]+}} constants, bindings read, read, read, write
// CHECK-NEXT: entry point causal_{{[0-9]+}}_matmul: 0 constants, bindings read, read, read, write
// CHECK-NEXT: entry point masked_{{[0-9]+}}_matmul: 0 constants, bindings read, read, read, read, write
// CHECK-NEXT: entry point grouped_{{[0-9]+}}_generic: 0 constants, bindings read, read, read, read, write
// CHECK-NEXT: entry point floats_{{[0-9]+}}_matmul: 0 constants, bindings read, read, read, write
// CHECK-NEXT: entry point bfloats_{{[0-9]+}}_matmul: 0 constants, bindings read, read, read, write
// Kernels of their own: the first product, the softmax, the second product. Those of the last two functions begin as the
// first's do.
// CHECK-NEXT: entry point used_twice_{{[0-9]+}}_matmul_transpose_b: 0 constants, bindings read, read, write
// CHECK-NEXT: entry point used_twice_{{[0-9]+}}_generic: 0 constants, bindings read, write
// CHECK-NEXT: entry point used_twice_{{[0-9]+}}_matmul: 0 constants, bindings read, read, write
// CHECK-NEXT: entry point doubles_{{[0-9]+}}_matmul_transpose_b: 0 constants, bindings read, read, write
// CHECK-NEXT: entry point doubles_{{[0-9]+}}_generic: 0 constants, bindings read, write
// CHECK-NEXT: entry point doubles_{{[0-9]+}}_matmul: 0 constants, bindings read, read, write
// CHECK-NEXT: entry point wide_{{[0-9]+}}_matmul: 0 constants, bindings read, read, write
// CHECK-NEXT: entry point other_sum_{{[0-9]+}}_matmul: 0 constants, bindings read, read, read, write
// A program for a processor, too, has the kernels that both have.
// BOTH: entry point heads
// BOTH-NEXT: entry point heads
func.func @heads(%q: tensor<3x100x40xf16>, %k: tensor<3x77x40xf16>, %v: tensor<3x77x24xf16>) -> tensor<3x100x24xf16> {
  %zero = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<3x100x77xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<3x100x77xf16>) -> tensor<3x100x77xf16>
  %s = linalg.batch_matmul_transpose_b ins(%q, %k : tensor<3x100x40xf16>, tensor<3x77x40xf16>) outs(%fs : tensor<3x100x77xf16>) -> tensor<3x100x77xf16>
  %w = linalg.softmax dimension(2) ins(%s : tensor<3x100x77xf16>) outs(%es : tensor<3x100x77xf16>) -> tensor<3x100x77xf16>
  %eo = tensor.empty() : tensor<3x100x24xf16>
  %fo = linalg.fill ins(%zero : f16) outs(%eo : tensor<3x100x24xf16>) -> tensor<3x100x24xf16>
  %o = linalg.batch_matmul ins(%w, %v : tensor<3x100x77xf16>, tensor<3x77x24xf16>) outs(%fo : tensor<3x100x24xf16>) -> tensor<3x100x24xf16>
  return %o : tensor<3x100x24xf16>
}
func.func @sizes(%q: tensor<?x?x64xf16>, %k: tensor<?x?x64xf16>, %v: tensor<?x?x64xf16>) -> tensor<?x?x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %b = tensor.dim %q, %c0 : tensor<?x?x64xf16>
  %m = tensor.dim %q, %c1 : tensor<?x?x64xf16>
  %n = tensor.dim %k, %c1 : tensor<?x?x64xf16>
  %es = tensor.empty(%b, %m, %n) : tensor<?x?x?xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<?x?x?xf16>) -> tensor<?x?x?xf16>
  %s = linalg.batch_matmul_transpose_b ins(%q, %k : tensor<?x?x64xf16>, tensor<?x?x64xf16>) outs(%fs : tensor<?x?x?xf16>) -> tensor<?x?x?xf16>
  %w = linalg.softmax dimension(2) ins(%s : tensor<?x?x?xf16>) outs(%es : tensor<?x?x?xf16>) -> tensor<?x?x?xf16>
  %eo = tensor.empty(%b, %m) : tensor<?x?x64xf16>
  %fo = linalg.fill ins(%zero : f16) outs(%eo : tensor<?x?x64xf16>) -> tensor<?x?x64xf16>
  %o = linalg.batch_matmul ins(%w, %v : tensor<?x?x?xf16>, tensor<?x?x64xf16>) outs(%fo : tensor<?x?x64xf16>) -> tensor<?x?x64xf16>
  return %o : tensor<?x?x64xf16>
}
func.func @causal(%q: tensor<130x128xf16>, %k: tensor<130x128xf16>, %v: tensor<130x128xf16>) -> tensor<130x128xf16> {
  %zero = arith.constant 0.0 : f16
  %scale = arith.constant 0.125 : f16
  %least = arith.constant -65504.0 : f16
  %es = tensor.empty() : tensor<130x130xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<130x130xf16>) -> tensor<130x130xf16>
  %s = linalg.matmul_transpose_b ins(%q, %k : tensor<130x128xf16>, tensor<130x128xf16>) outs(%fs : tensor<130x130xf16>) -> tensor<130x130xf16>
  %x = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<130x130xf16>) outs(%es : tensor<130x130xf16>) {
  ^body(%score: f16, %out: f16):
    %m = linalg.index 0 : index
    %n = linalg.index 1 : index
    %seen = arith.cmpi uge, %m, %n : index
    %scaled = arith.mulf %score, %scale : f16
    %masked = arith.select %seen, %scaled, %least : f16
    linalg.yield %masked : f16
  } -> tensor<130x130xf16>
  %w = linalg.softmax dimension(1) ins(%x : tensor<130x130xf16>) outs(%es : tensor<130x130xf16>) -> tensor<130x130xf16>
  %eo = tensor.empty() : tensor<130x128xf16>
  %fo = linalg.fill ins(%zero : f16) outs(%eo : tensor<130x128xf16>) -> tensor<130x128xf16>
  %o = linalg.matmul ins(%w, %v : tensor<130x130xf16>, tensor<130x128xf16>) outs(%fo : tensor<130x128xf16>) -> tensor<130x128xf16>
  return %o : tensor<130x128xf16>
}
func.func @masked(%q: tensor<96x33xf16>, %k: tensor<80x33xf16>, %v: tensor<80x50xf16>, %mask: tensor<96x80xf16>) -> tensor<96x50xf16> {
  %zero = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<96x80xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<96x80xf16>) -> tensor<96x80xf16>
  %s = linalg.matmul_transpose_b ins(%q, %k : tensor<96x33xf16>, tensor<80x33xf16>) outs(%fs : tensor<96x80xf16>) -> tensor<96x80xf16>
  %x = linalg.add ins(%s, %mask : tensor<96x80xf16>, tensor<96x80xf16>) outs(%es : tensor<96x80xf16>) -> tensor<96x80xf16>
  %w = linalg.softmax dimension(1) ins(%x : tensor<96x80xf16>) outs(%es : tensor<96x80xf16>) -> tensor<96x80xf16>
  %eo = tensor.empty() : tensor<96x50xf16>
  %fo = linalg.fill ins(%zero : f16) outs(%eo : tensor<96x50xf16>) -> tensor<96x50xf16>
  %o = linalg.matmul ins(%w, %v : tensor<96x80xf16>, tensor<80x50xf16>) outs(%fo : tensor<96x50xf16>) -> tensor<96x50xf16>
  return %o : tensor<96x50xf16>
}
// Groups of three heads read the same keys, which stand first in the products; scores are turned once, and so is the result.
func.func @grouped(%q: tensor<2x70x3x32xf16>, %k: tensor<2x90x32xf16>, %v: tensor<2x90x64xf16>, %rest: tensor<70x2x3x64xf16>) -> tensor<70x2x3x64xf16> {
  %zero = arith.constant 0.0 : f16
  %scale = arith.constant 0.25 : f16
  %ep = tensor.empty() : tensor<2x90x70x3xf16>
  %fp = linalg.fill ins(%zero : f16) outs(%ep : tensor<2x90x70x3xf16>) -> tensor<2x90x70x3xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(b, n, m, g, d) -> (b, n, d)>, affine_map<(b, n, m, g, d) -> (b, m, g, d)>, affine_map<(b, n, m, g, d) -> (b, n, m, g)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%k, %q : tensor<2x90x32xf16>, tensor<2x70x3x32xf16>) outs(%fp : tensor<2x90x70x3xf16>) {
  ^body(%a: f16, %c: f16, %sum: f16):
    %1 = arith.mulf %a, %c : f16
    %2 = arith.addf %sum, %1 : f16
    linalg.yield %2 : f16
  } -> tensor<2x90x70x3xf16>
  %es = tensor.empty() : tensor<2x3x70x90xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(b, g, m, n) -> (b, n, m, g)>, affine_map<(b, g, m, n) -> (b, g, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<2x90x70x3xf16>) outs(%es : tensor<2x3x70x90xf16>) {
  ^body(%score: f16, %out: f16):
    %1 = arith.mulf %score, %scale : f16
    linalg.yield %1 : f16
  } -> tensor<2x3x70x90xf16>
  %w = linalg.softmax dimension(3) ins(%s : tensor<2x3x70x90xf16>) outs(%es : tensor<2x3x70x90xf16>) -> tensor<2x3x70x90xf16>
  %eo = tensor.empty() : tensor<2x64x3x70xf16>
  %fo = linalg.fill ins(%zero : f16) outs(%eo : tensor<2x64x3x70xf16>) -> tensor<2x64x3x70xf16>
  %o = linalg.generic {indexing_maps = [affine_map<(b, e, g, m, n) -> (b, n, e)>, affine_map<(b, e, g, m, n) -> (b, g, m, n)>, affine_map<(b, e, g, m, n) -> (b, e, g, m)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%v, %w : tensor<2x90x64xf16>, tensor<2x3x70x90xf16>) outs(%fo : tensor<2x64x3x70xf16>) {
  ^body(%a: f16, %c: f16, %sum: f16):
    %1 = arith.mulf %a, %c : f16
    %2 = arith.addf %sum, %1 : f16
    linalg.yield %2 : f16
  } -> tensor<2x64x3x70xf16>
  %er = tensor.empty() : tensor<70x2x3x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, b, g, e) -> (b, e, g, m)>, affine_map<(m, b, g, e) -> (m, b, g, e)>, affine_map<(m, b, g, e) -> (m, b, g, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%o, %rest : tensor<2x64x3x70xf16>, tensor<70x2x3x64xf16>) outs(%er : tensor<70x2x3x64xf16>) {
  ^body(%a: f16, %c: f16, %out: f16):
    %1 = arith.addf %a, %c : f16
    linalg.yield %1 : f16
  } -> tensor<70x2x3x64xf16>
  return %r : tensor<70x2x3x64xf16>
}
func.func @floats(%q: tensor<64x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.matmul_transpose_b ins(%q, %k : tensor<64x32xf32>, tensor<64x32xf32>) outs(%fs : tensor<64x64xf32>) -> tensor<64x64xf32>
  %w = linalg.softmax dimension(1) ins(%s : tensor<64x64xf32>) outs(%es : tensor<64x64xf32>) -> tensor<64x64xf32>
  %eo = tensor.empty() : tensor<64x32xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x32xf32>) -> tensor<64x32xf32>
  %o = linalg.matmul ins(%w, %v : tensor<64x64xf32>, tensor<64x32xf32>) outs(%fo : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %o : tensor<64x32xf32>
}
// Code for sm_75 has no such products; it multiplies one by one.
func.func @bfloats(%q: tensor<150x64xbf16>, %k: tensor<70x64xbf16>, %v: tensor<70x40xbf16>) -> tensor<150x40xbf16> {
  %zero = arith.constant 0.0 : bf16
  %es = tensor.empty() : tensor<150x70xbf16>
  %fs = linalg.fill ins(%zero : bf16) outs(%es : tensor<150x70xbf16>) -> tensor<150x70xbf16>
  %s = linalg.matmul_transpose_b ins(%q, %k : tensor<150x64xbf16>, tensor<70x64xbf16>) outs(%fs : tensor<150x70xbf16>) -> tensor<150x70xbf16>
  %w = linalg.softmax dimension(1) ins(%s : tensor<150x70xbf16>) outs(%es : tensor<150x70xbf16>) -> tensor<150x70xbf16>
  %eo = tensor.empty() : tensor<150x40xbf16>
  %fo = linalg.fill ins(%zero : bf16) outs(%eo : tensor<150x40xbf16>) -> tensor<150x40xbf16>
  %o = linalg.matmul ins(%w, %v : tensor<150x70xbf16>, tensor<70x40xbf16>) outs(%fo : tensor<150x40xbf16>) -> tensor<150x40xbf16>
  return %o : tensor<150x40xbf16>
}
func.func @used_twice(%q: tensor<64x32xf16>, %k: tensor<64x32xf16>, %v: tensor<64x32xf16>) -> (tensor<64x32xf16>, tensor<64x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<64x64xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<64x64xf16>) -> tensor<64x64xf16>
  %s = linalg.matmul_transpose_b ins(%q, %k : tensor<64x32xf16>, tensor<64x32xf16>) outs(%fs : tensor<64x64xf16>) -> tensor<64x64xf16>
  %w = linalg.softmax dimension(1) ins(%s : tensor<64x64xf16>) outs(%es : tensor<64x64xf16>) -> tensor<64x64xf16>
  %eo = tensor.empty() : tensor<64x32xf16>
  %fo = linalg.fill ins(%zero : f16) outs(%eo : tensor<64x32xf16>) -> tensor<64x32xf16>
  %o = linalg.matmul ins(%w, %v : tensor<64x64xf16>, tensor<64x32xf16>) outs(%fo : tensor<64x32xf16>) -> tensor<64x32xf16>
  return %o, %w : tensor<64x32xf16>, tensor<64x64xf16>
}
func.func @doubles(%q: tensor<64x32xf64>, %k: tensor<64x32xf64>, %v: tensor<64x32xf64>) -> tensor<64x32xf64> {
  %zero = arith.constant 0.0 : f64
  %es = tensor.empty() : tensor<64x64xf64>
  %fs = linalg.fill ins(%zero : f64) outs(%es : tensor<64x64xf64>) -> tensor<64x64xf64>
  %s = linalg.matmul_transpose_b ins(%q, %k : tensor<64x32xf64>, tensor<64x32xf64>) outs(%fs : tensor<64x64xf64>) -> tensor<64x64xf64>
  %w = linalg.softmax dimension(1) ins(%s : tensor<64x64xf64>) outs(%es : tensor<64x64xf64>) -> tensor<64x64xf64>
  %eo = tensor.empty() : tensor<64x32xf64>
  %fo = linalg.fill ins(%zero : f64) outs(%eo : tensor<64x32xf64>) -> tensor<64x32xf64>
  %o = linalg.matmul ins(%w, %v : tensor<64x64xf64>, tensor<64x32xf64>) outs(%fo : tensor<64x32xf64>) -> tensor<64x32xf64>
  return %o : tensor<64x32xf64>
}
// A row of V is longer than what registers hold.
func.func @wide(%q: tensor<64x32xf16>, %k: tensor<64x32xf16>, %v: tensor<64x200xf16>) -> tensor<64x200xf16> {
  %zero = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<64x64xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<64x64xf16>) -> tensor<64x64xf16>
  %s = linalg.matmul_transpose_b ins(%q, %k : tensor<64x32xf16>, tensor<64x32xf16>) outs(%fs : tensor<64x64xf16>) -> tensor<64x64xf16>
  %w = linalg.softmax dimension(1) ins(%s : tensor<64x64xf16>) outs(%es : tensor<64x64xf16>) -> tensor<64x64xf16>
  %eo = tensor.empty() : tensor<64x200xf16>
  %fo = linalg.fill ins(%zero : f16) outs(%eo : tensor<64x200xf16>) -> tensor<64x200xf16>
  %o = linalg.matmul ins(%w, %v : tensor<64x64xf16>, tensor<64x200xf16>) outs(%fo : tensor<64x200xf16>) -> tensor<64x200xf16>
  return %o : tensor<64x200xf16>
}
// A second product that adds to something isn't the whole of attention.
func.func @other_sum(%q: tensor<64x32xf16>, %k: tensor<64x32xf16>, %v: tensor<64x32xf16>, %onto: tensor<64x32xf16>) -> tensor<64x32xf16> {
  %zero = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<64x64xf16>
  %fs = linalg.fill ins(%zero : f16) outs(%es : tensor<64x64xf16>) -> tensor<64x64xf16>
  %s = linalg.matmul_transpose_b ins(%q, %k : tensor<64x32xf16>, tensor<64x32xf16>) outs(%fs : tensor<64x64xf16>) -> tensor<64x64xf16>
  %w = linalg.softmax dimension(1) ins(%s : tensor<64x64xf16>) outs(%es : tensor<64x64xf16>) -> tensor<64x64xf16>
  %o = linalg.matmul ins(%w, %v : tensor<64x64xf16>, tensor<64x32xf16>) outs(%onto : tensor<64x32xf16>) -> tensor<64x32xf16>
  return %o : tensor<64x32xf16>
}
