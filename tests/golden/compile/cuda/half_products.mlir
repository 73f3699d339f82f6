// Products of f16 and bf16 on tensor cores: tiles that fit and that don't, every way in which matrices can lie, odd
// strides, batches, sums onto what is there. Code for sm_80 stands beside that for sm_75, and both are launched alike.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: baton-dump-module %t.bvm --section=executables | FileCheck %s
// CHECK: cuda-ptx-compute_90a: {{[0-9]+}} bytes (ptx)
// CHECK: cuda-ptx-compute_80: {{[0-9]+}} bytes (ptx)
// CHECK: cuda-ptx-compute_75: {{[0-9]+}} bytes (ptx)
// Short sums of halves are exchanged among threads, and written 16 bytes at a time.
// RUN: baton-dump-module %t.bvm --extract=%t.files
// RUN: FileCheck %s --check-prefix=ROWS --input-file=%t.files/dispatch_groups.cuda-ptx-compute_90a.ptx
// RUN: FileCheck %s --check-prefix=ROWS --input-file=%t.files/dispatch_groups.cuda-ptx-compute_80.ptx
// ROWS-LABEL: .entry narrowed
// ROWS: shfl.sync.bfly
// ROWS: st.global.v4.b32
// CASE: whole_b --input=256x128=bf16:unit --input=128x256=bf16:unit
// CASE: dynamic --input=256x64=f16:unit --input=64x256=f16:unit
// CASE: dynamic --input=129x72=f16:unit --input=72x136=f16:unit
// CASE: dynamic --input=100x70=f16:unit --input=70x90=f16:unit
// CASE: dynamic --input=65x33=f16:unit --input=33x129=f16:unit
// CASE: dynamic --input=1x1=f16:unit --input=1x1=f16:unit
// CASE: turned_a --input=200x128=f16:unit --input=200x136=f16:unit
// CASE: turned_b_b --input=128x200=bf16:unit --input=136x200=bf16:unit
// CASE: onto --input=130x64=f16:unit --input=64x140=f16:unit --input=130x140=f32
// CASE: small --input=130x64=f16:unit --input=64x140=f16:unit
// CASE: batch --input=3x70x64=f16:unit --input=3x64x136=f16:unit
// CASE: gated --input=1792x64=f16:unit --input=64x2560=f16:unit --input=64x2560=f16:unit
// CASE: narrowed --input=1792x64=f16:unit --input=64x2560=f16:unit
// CASE: wide_tiles --input=1024x320=f16:unit --input=320x3072=f16:unit
// CASE: tiles_in_turn --input=1280x2048=bf16:unit --input=2048x1700=bf16:unit
// CASE: large --input=1792x64=f16:unit --input=64x2560=f16:unit
func.func @whole_b(%a: tensor<256x128xbf16>, %b: tensor<128x256xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x128xbf16>, tensor<128x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
func.func @dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @turned_a(%a: tensor<200x128xf16>, %b: tensor<200x136xf16>) -> tensor<128x136xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x136xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x136xf32>) -> tensor<128x136xf32>
  %r = linalg.matmul_transpose_a ins(%a, %b : tensor<200x128xf16>, tensor<200x136xf16>) outs(%f : tensor<128x136xf32>) -> tensor<128x136xf32>
  return %r : tensor<128x136xf32>
}
func.func @turned_b_b(%a: tensor<128x200xbf16>, %b: tensor<136x200xbf16>) -> tensor<128x136xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x136xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x136xf32>) -> tensor<128x136xf32>
  %r = linalg.matmul_transpose_b ins(%a, %b : tensor<128x200xbf16>, tensor<136x200xbf16>) outs(%f : tensor<128x136xf32>) -> tensor<128x136xf32>
  return %r : tensor<128x136xf32>
}
func.func @onto(%a: tensor<130x64xf16>, %b: tensor<64x140xf16>, %c: tensor<130x140xf32>) -> tensor<130x140xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<130x64xf16>, tensor<64x140xf16>) outs(%c : tensor<130x140xf32>) -> tensor<130x140xf32>
  return %r : tensor<130x140xf32>
}
func.func @small(%a: tensor<130x64xf16>, %b: tensor<64x140xf16>) -> tensor<130x140xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<130x140xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<130x140xf16>) -> tensor<130x140xf16>
  %r = linalg.matmul ins(%a, %b : tensor<130x64xf16>, tensor<64x140xf16>) outs(%f : tensor<130x140xf16>) -> tensor<130x140xf16>
  return %r : tensor<130x140xf16>
}
func.func @batch(%a: tensor<3x70x64xf16>, %b: tensor<3x64x136xf16>) -> tensor<3x70x136xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x70x136xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x70x136xf32>) -> tensor<3x70x136xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x70x64xf16>, tensor<3x64x136xf16>) outs(%f : tensor<3x70x136xf32>) -> tensor<3x70x136xf32>
  return %r : tensor<3x70x136xf32>
}
func.func @large(%a: tensor<1792x64xf16>, %b: tensor<64x2560xf16>) -> tensor<30x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1792x2560xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1792x2560xf32>) -> tensor<1792x2560xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1792x64xf16>, tensor<64x2560xf16>) outs(%f : tensor<1792x2560xf32>) -> tensor<1792x2560xf32>
  %some = tensor.extract_slice %r[0, 0] [30, 512] [61, 5] : tensor<1792x2560xf32> to tensor<30x512xf32>
  return %some : tensor<30x512xf32>
}
// Two products that one operation reads are two kernels: what both keep at hand is more than a block has.
func.func @gated(%a: tensor<1792x64xf16>, %b: tensor<64x2560xf16>, %c: tensor<64x2560xf16>) -> tensor<30x512xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1792x2560xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1792x2560xf16>) -> tensor<1792x2560xf16>
  %p = linalg.matmul ins(%a, %b : tensor<1792x64xf16>, tensor<64x2560xf16>) outs(%f : tensor<1792x2560xf16>) -> tensor<1792x2560xf16>
  %q = linalg.matmul ins(%a, %c : tensor<1792x64xf16>, tensor<64x2560xf16>) outs(%f : tensor<1792x2560xf16>) -> tensor<1792x2560xf16>
  %r = linalg.mul ins(%p, %q : tensor<1792x2560xf16>, tensor<1792x2560xf16>) outs(%e : tensor<1792x2560xf16>) -> tensor<1792x2560xf16>
  %some = tensor.extract_slice %r[0, 0] [30, 512] [61, 5] : tensor<1792x2560xf16> to tensor<30x512xf16>
  return %some : tensor<30x512xf16>
}
// Sums in f32 that are kept while they become f16.
func.func @narrowed(%a: tensor<1792x64xf16>, %b: tensor<64x2560xf16>) -> tensor<30x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1792x2560xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1792x2560xf32>) -> tensor<1792x2560xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1792x64xf16>, tensor<64x2560xf16>) outs(%f : tensor<1792x2560xf32>) -> tensor<1792x2560xf32>
  %n = tensor.empty() : tensor<1792x2560xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<1792x2560xf32>) outs(%n : tensor<1792x2560xf16>) {
  ^bb0(%x: f32, %out: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1792x2560xf16>
  %some = tensor.extract_slice %r[0, 0] [30, 512] [61, 5] : tensor<1792x2560xf16> to tensor<30x512xf16>
  return %some : tensor<30x512xf16>
}
// Tiles of 192 columns, which give each multiprocessor one.
func.func @wide_tiles(%a: tensor<1024x320xf16>, %b: tensor<320x3072xf16>) -> tensor<30x512xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1024x3072xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1024x3072xf16>) -> tensor<1024x3072xf16>
  %r = linalg.matmul ins(%a, %b : tensor<1024x320xf16>, tensor<320x3072xf16>) outs(%f : tensor<1024x3072xf16>) -> tensor<1024x3072xf16>
  %some = tensor.extract_slice %r[1, 5] [30, 512] [35, 6] : tensor<1024x3072xf16> to tensor<30x512xf16>
  return %some : tensor<30x512xf16>
}
// Ten rows of tiles: eight that follow each other along the rows, and two.
func.func @tiles_in_turn(%a: tensor<1280x2048xbf16>, %b: tensor<2048x1700xbf16>) -> tensor<40x340xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<1280x1700xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<1280x1700xbf16>) -> tensor<1280x1700xbf16>
  %r = linalg.matmul ins(%a, %b : tensor<1280x2048xbf16>, tensor<2048x1700xbf16>) outs(%f : tensor<1280x1700xbf16>) -> tensor<1280x1700xbf16>
  %some = tensor.extract_slice %r[3, 4] [40, 340] [32, 5] : tensor<1280x1700xbf16> to tensor<40x340xbf16>
  return %some : tensor<40x340xbf16>
}
