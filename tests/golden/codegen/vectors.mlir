// Loops come out as vectors of the level's width, sums too; products use fused multiply-adds where there are some.
// RUN: baton-codegen --arch=x86_64 --target-option=cpu-levels=avx512 --emit=asm %s | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: baton-codegen --arch=x86_64 --target-option=cpu-levels=avx2 --emit=asm %s | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: baton-codegen --arch=x86_64 --target-option=cpu-levels=baseline --emit=asm %s | FileCheck %s --check-prefixes=CHECK,SSE
// RUN: baton-codegen --emit=asm --arch=aarch64 %s | FileCheck %s --check-prefix=NEON

// CHECK-LABEL: add_{{avx512|avx2|baseline}}:
// AVX512: vaddps {{.*}}zmm
// AVX2: vaddps {{.*}}ymm
// SSE: addps {{.*}}xmm
// NEON-LABEL: add_neon:
// NEON: fadd v{{[0-9]+}}.4s
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: sum_{{avx512|avx2|baseline}}:
// AVX512: vaddps {{.*}}zmm
// AVX2: vaddps {{.*}}ymm
// SSE: addps {{.*}}xmm
func.func @sum(%a: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

// Exponentials are inlined: nothing is called, in a vector of 16.
// CHECK-LABEL: exp_{{avx512|avx2|baseline}}:
// CHECK-NOT: call
// AVX512: vfmadd{{.*}}zmm
// AVX2: vfmadd{{.*}}ymm
// SSE: mulps
// NEON-LABEL: exp_neon:
// NEON: fmla v{{[0-9]+}}.4s
func.func @exp(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = math.exp %a : tensor<?xf32>
  return %r : tensor<?xf32>
}

// What becomes bf16 is rounded in vectors, NaN and all: no number is taken out of one.
// CHECK-LABEL: brain_halves_{{avx512|avx2|baseline}}:
// CHECK-NOT: {{cmov|pextr}}
// AVX512: vpmovdw {{.*}}zmm
// AVX2: vpackusdw {{.*}}ymm
// CHECK-NOT: {{cmov|pextr}}
// CHECK: ret
// NEON-LABEL: brain_halves_neon:
// NEON: addhn v{{[0-9]+}}.4h
func.func @brain_halves(%a: tensor<4096xbf16>, %b: tensor<4096xbf16>) -> tensor<4096xbf16> {
  %r = arith.addf %a, %b : tensor<4096xbf16>
  return %r : tensor<4096xbf16>
}

// Bytes that are summed in i32 take two steps at once on x86.
// CHECK-LABEL: byte_product_{{avx512|avx2|baseline}}:
// AVX512: vpmaddwd {{.*}}zmm
// AVX2: vpmaddwd {{.*}}ymm
// SSE: pmaddwd
// NEON-LABEL: byte_product_neon:
// NEON: mla v{{[0-9]+}}.4s
func.func @byte_product(%a: tensor<64x128xi8>, %b: tensor<128x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> attributes {tied_operands = [2]} {
  %r = linalg.matmul ins(%a, %b : tensor<64x128xi8>, tensor<128x64xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

// CHECK-LABEL: product_{{avx512|avx2|baseline}}:
// AVX512: vfmadd231ps {{.*}}zmm
// AVX2: vfmadd231ps {{.*}}ymm
// SSE: mulps
// SSE-NEXT: addps
// NEON-LABEL: product_neon:
// NEON: fmla v{{[0-9]+}}.4s
func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {tied_operands = [2]} {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
