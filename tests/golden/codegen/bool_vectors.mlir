// Loops that read and write i1, each of which takes a byte, are vectors as others are: choices, counts, what any of a column is, comparisons.
// RUN: baton-codegen --arch=x86_64 --target-option=cpu-levels=avx512 --emit=asm %s | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: baton-codegen --arch=x86_64 --target-option=cpu-levels=avx2 --emit=asm %s | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: baton-codegen --emit=asm --arch=aarch64 %s | FileCheck %s --check-prefix=NEON

#same = affine_map<(i) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// CHECK-LABEL: choose_{{avx512|avx2}}:
// AVX512: vpmovb2m
// AVX2: vblendvps {{.*}}ymm
// NEON-LABEL: choose_neon:
// NEON: {{bsl|bif|bit}} v{{[0-9]+}}.16b
func.func @choose(%m: tensor<4096xi1>, %a: tensor<4096xf32>, %b: tensor<4096xf32>) -> tensor<4096xf32> {
  %e = tensor.empty() : tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel"]}
      ins(%m, %a, %b : tensor<4096xi1>, tensor<4096xf32>, tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
  ^bb0(%c: i1, %x: f32, %y: f32, %o: f32):
    %z = arith.select %c, %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// CHECK-LABEL: masked_sum_{{avx512|avx2}}:
// AVX512: vaddps {{.*}}zmm
// AVX2: vaddps {{.*}}ymm
// NEON-LABEL: masked_sum_neon:
// NEON: fadd v{{[0-9]+}}.4s
func.func @masked_sum(%m: tensor<8x5000xi1>, %a: tensor<8x5000xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#both, #both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%m, %a : tensor<8x5000xi1>, tensor<8x5000xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%c: i1, %x: f32, %sum: f32):
    %z = arith.select %c, %x, %zero : f32
    %q = arith.addf %sum, %z : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// What any of a column is stands in memory, and what any of a row is in a register.
// CHECK-LABEL: any_of_columns_{{avx512|avx2}}:
// AVX512: vcmpltps {{.*}}zmm
// AVX2: vcmpltps {{.*}}ymm
// NEON-LABEL: any_of_columns_neon:
// NEON: fcmgt v{{[0-9]+}}.4s
func.func @any_of_columns(%a: tensor<200x256xf32>) -> tensor<256xi1> {
  %none = arith.constant false
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256xi1>
  %f = linalg.fill ins(%none : i1) outs(%e : tensor<256xi1>) -> tensor<256xi1>
  %r = linalg.generic {indexing_maps = [#both, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<200x256xf32>) outs(%f : tensor<256xi1>) {
  ^bb0(%x: f32, %any: i1):
    %c = arith.cmpf ogt, %x, %zero : f32
    %q = arith.ori %any, %c : i1
    linalg.yield %q : i1
  } -> tensor<256xi1>
  return %r : tensor<256xi1>
}

// CHECK-LABEL: any_of_rows_{{avx512|avx2}}:
// AVX512: vcmpltps {{.*}}zmm
// AVX2: vcmpltps {{.*}}ymm
// NEON-LABEL: any_of_rows_neon:
// NEON: fcmgt v{{[0-9]+}}.4s
func.func @any_of_rows(%a: tensor<256x200xf32>) -> tensor<256xi1> {
  %none = arith.constant false
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256xi1>
  %f = linalg.fill ins(%none : i1) outs(%e : tensor<256xi1>) -> tensor<256xi1>
  %r = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<256x200xf32>) outs(%f : tensor<256xi1>) {
  ^bb0(%x: f32, %any: i1):
    %c = arith.cmpf ogt, %x, %zero : f32
    %q = arith.ori %any, %c : i1
    linalg.yield %q : i1
  } -> tensor<256xi1>
  return %r : tensor<256xi1>
}

// CHECK-LABEL: compare_{{avx512|avx2}}:
// AVX512: vcmpltps {{.*}}zmm
// AVX2: vcmpltps {{.*}}ymm
// NEON-LABEL: compare_neon:
// NEON: fcmgt v{{[0-9]+}}.4s
func.func @compare(%a: tensor<4096xf32>, %b: tensor<4096xf32>) -> tensor<4096xi1> {
  %r = arith.cmpf ogt, %a, %b : tensor<4096xf32>
  return %r : tensor<4096xi1>
}
