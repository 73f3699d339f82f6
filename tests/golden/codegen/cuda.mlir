// Kernels for CUDA: whole accesses of 16 bytes, sums through shuffles, products through shared memory, nothing called.
// RUN: baton-codegen --arch=sm_75 --emit=asm %s | FileCheck %s
// RUN: baton-codegen --arch=sm_90 --emit=asm %s | FileCheck %s --check-prefix=NEWER
// RUN: baton-codegen --arch=sm_80 --emit=asm %s | FileCheck %s --check-prefix=AMPERE
// RUN: baton-codegen --arch=sm_75 --emit=launches %s | FileCheck %s --check-prefix=LAUNCHES
// RUN: baton-codegen --arch=sm_75 --emit=grids %s | FileCheck %s --check-prefix=GRIDS
// RUN: baton-codegen --arch=sm_75 --emit=threads %s | FileCheck %s --check-prefix=THREADS
// RUN: not baton-codegen --arch=sm_10 --emit=asm %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: There is no CUDA architecture 'sm_10' to generate code for; there are: sm_75, sm_80,

// CHECK: .version 6.5
// CHECK: .target sm_75
// CHECK-NOT: call
// NEWER: .version 7.8
// NEWER: .target sm_90

// A pointer for each binding, a word for each constant.
// CHECK: .visible .entry add(
// CHECK-NEXT: .param .u64
// CHECK-NEXT: .param .u64
// CHECK-NEXT: .param .u64
// CHECK-NEXT: .param .u32
// CHECK: .reqntid 256, 1, 1
// CHECK: ld.global.v4.f32
// CHECK: ld.global.v4.f32
// CHECK: add.rn.f32
// CHECK: st.global.v4.f32
// What is left, or begins at an odd place.
// CHECK: ld.global.f32
// CHECK: st.global.f32
// LAUNCHES: add 3 3 256 1 1 0
// GRIDS-LABEL: {{^}}add
// GRIDS: grid ()[s0, s1, s2] -> (s2 ceildiv 4096, 1, 1)
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}

// Eight halves are 16 bytes, too; one sum is rounded the same in f16, and two make one instruction.
// CHECK: .visible .entry halves(
// CHECK: ld.global.v4.{{[bu]}}32
// CHECK: add.rn.f16x2
// CHECK: st.global.v4.{{[bu]}}32
func.func @halves(%a: tensor<?xf16>) -> tensor<?xf16> {
  %r = arith.addf %a, %a : tensor<?xf16>
  return %r : tensor<?xf16>
}

// Rows of unknown length: a warp for each.
// CHECK: .visible .entry rows(
// CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1
// CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1
// THREADS-LABEL: func.func @rows
// THREADS: nvvm.shfl.sync bfly
func.func @rows(%a: tensor<64x100xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<64x100xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
  return %r : tensor<64xf32>
}

// Long rows: the block for each; its loads are on their way together, and its warps meet in shared memory.
// CHECK: .visible .entry long_rows(
// CHECK: shfl.sync.bfly
// CHECK: st.{{(shared.)?}}f32
// CHECK: bar.sync
// CHECK: ld.{{(shared.)?}}f32
// CHECK: shfl.sync.bfly
// CHECK: ld.global.v4.f32
// CHECK-NEXT: ld.global.v4.f32
// CHECK-NEXT: ld.global.v4.f32
// CHECK-NEXT: ld.global.v4.f32
// LAUNCHES: long_rows 0 2 256 1 1 64
// GRIDS-LABEL: {{^}}long_rows
// GRIDS: grid () -> (64, 1, 1)
func.func @long_rows(%a: tensor<64x4096xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<64x4096xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
  return %r : tensor<64xf32>
}

// Two slices of each matrix: one is multiplied while the next comes, and a barrier stands between them. Groups of threads
// share the steps of a slice; behind the last one their sums meet, one group after the other, a barrier between them.
// CHECK: .visible .entry product(
// CHECK: bar.sync
// CHECK: ld.shared.v4.f32
// CHECK: fma.rn.f32
// CHECK: bar.sync
// CHECK: st.shared.f32
// CHECK: bar.sync
// CHECK: ld.shared.f32
// CHECK: add.rn.f32
// CHECK: st.global.v4.f32
// LAUNCHES: product 0 3 256 1 1 17408
// GRIDS-LABEL: {{^}}product
// GRIDS: grid () -> (16, 1, 1)
func.func @product(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x128xf32>, tensor<128x256xf32>) outs(%f : tensor<256x256xf32>)
      -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// Rows stay in registers between the passes: read once, written once.
// CHECK: .visible .entry softmax(
// CHECK-COUNT-4: ld.global.v4.f32
// CHECK-NOT: ld.global.v4
// CHECK: st.global.v4.f32
// LAUNCHES: softmax 0 2 256 1 1 64
func.func @softmax(%a: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<64xf32>
  %e2 = tensor.empty() : tensor<64x4096xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.reduce { arith.maximumf } ins(%a : tensor<64x4096xf32>) outs(%f1 : tensor<64xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<64xf32>) outs(%e2 : tensor<64x4096xf32>) dimensions = [1]
  %d = arith.subf %a, %b : tensor<64x4096xf32>
  %x = math.exp %d : tensor<64x4096xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<64x4096xf32>) outs(%f2 : tensor<64xf32>) dimensions = [1]
  %c = linalg.broadcast ins(%s : tensor<64xf32>) outs(%e2 : tensor<64x4096xf32>) dimensions = [1]
  %r = arith.divf %x, %c : tensor<64x4096xf32>
  return %r : tensor<64x4096xf32>
}

// What moves the last dimension passes through shared memory, in accesses of 16 bytes on both sides.
// CHECK-LABEL: .entry turn(
// CHECK-COUNT-4: ld.global.v4.f32
// CHECK-COUNT-16: st.shared.f32
// CHECK: bar.sync
// CHECK: ld.shared.v4.f32
// CHECK: st.global.v4.f32
// LAUNCHES: turn 0 2 256 1 1 16384
func.func @turn(%a: tensor<256x512xf32>) -> tensor<512x256xf32> {
  %e = tensor.empty() : tensor<512x256xf32>
  %r = linalg.transpose ins(%a : tensor<256x512xf32>) outs(%e : tensor<512x256xf32>) permutation = [1, 0]
  return %r : tensor<512x256xf32>
}

// Halves on tensor cores: in pieces of depth 8 at first, later of depth 16, with copies that nobody waits for.
// CHECK-LABEL: .entry halves_product(
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// CHECK-NOT: cp.async
// AMPERE-LABEL: .entry halves_product(
// AMPERE: cp.async.cg.shared.global
// AMPERE: cp.async.commit_group
// AMPERE: cp.async.wait_group 2
// AMPERE: bar.sync
// AMPERE: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// LAUNCHES: halves_product 0 3 256 1 1 12288
// GRIDS-LABEL: {{^}}halves_product
// GRIDS: grid () -> (8, 1, 1)
func.func @halves_product(%a: tensor<256x128xf16>, %b: tensor<128x256xf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x128xf16>, tensor<128x256xf16>) outs(%f : tensor<256x256xf32>)
      -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// Functions that no instruction computes are linked and inlined; what is met often is computed in f32 alone.
// CHECK-LABEL: .entry tanh(
// CHECK-NOT: .f64
// CHECK: fma.rn.f32
// CHECK-NOT: .f64
func.func @tanh(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = math.tanh %a : tensor<?xf32>
  return %r : tensor<?xf32>
}
