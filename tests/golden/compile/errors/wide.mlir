// A kernel takes as many tensors and words as a dispatch; an operation that can't be divided is refused where it stands.
// RUN: not baton-compile %s -o %t.bvm 2>&1 | FileCheck %s
// CHECK: wide.mlir:[[#@LINE+4]]:{{.*}}error: This operation reads and writes 2 tensors, and takes 66 words of sizes and scalars; a kernel takes 64 and 64. Divide it into several.
#m = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<8xi64>, %s0: i64, %s1: i64, %s2: i64, %s3: i64, %s4: i64, %s5: i64, %s6: i64, %s7: i64, %s8: i64, %s9: i64, %s10: i64, %s11: i64, %s12: i64, %s13: i64, %s14: i64, %s15: i64, %s16: i64, %s17: i64, %s18: i64, %s19: i64, %s20: i64, %s21: i64, %s22: i64, %s23: i64, %s24: i64, %s25: i64, %s26: i64, %s27: i64, %s28: i64, %s29: i64, %s30: i64, %s31: i64, %s32: i64) -> tensor<8xi64> {
  %e = tensor.empty() : tensor<8xi64>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%x : tensor<8xi64>) outs(%e : tensor<8xi64>) {
  ^bb0(%in: i64, %out: i64):
    %t0 = arith.addi %in, %s0 : i64
    %t1 = arith.addi %t0, %s1 : i64
    %t2 = arith.addi %t1, %s2 : i64
    %t3 = arith.addi %t2, %s3 : i64
    %t4 = arith.addi %t3, %s4 : i64
    %t5 = arith.addi %t4, %s5 : i64
    %t6 = arith.addi %t5, %s6 : i64
    %t7 = arith.addi %t6, %s7 : i64
    %t8 = arith.addi %t7, %s8 : i64
    %t9 = arith.addi %t8, %s9 : i64
    %t10 = arith.addi %t9, %s10 : i64
    %t11 = arith.addi %t10, %s11 : i64
    %t12 = arith.addi %t11, %s12 : i64
    %t13 = arith.addi %t12, %s13 : i64
    %t14 = arith.addi %t13, %s14 : i64
    %t15 = arith.addi %t14, %s15 : i64
    %t16 = arith.addi %t15, %s16 : i64
    %t17 = arith.addi %t16, %s17 : i64
    %t18 = arith.addi %t17, %s18 : i64
    %t19 = arith.addi %t18, %s19 : i64
    %t20 = arith.addi %t19, %s20 : i64
    %t21 = arith.addi %t20, %s21 : i64
    %t22 = arith.addi %t21, %s22 : i64
    %t23 = arith.addi %t22, %s23 : i64
    %t24 = arith.addi %t23, %s24 : i64
    %t25 = arith.addi %t24, %s25 : i64
    %t26 = arith.addi %t25, %s26 : i64
    %t27 = arith.addi %t26, %s27 : i64
    %t28 = arith.addi %t27, %s28 : i64
    %t29 = arith.addi %t28, %s29 : i64
    %t30 = arith.addi %t29, %s30 : i64
    %t31 = arith.addi %t30, %s31 : i64
    %t32 = arith.addi %t31, %s32 : i64
    linalg.yield %t32 : i64
  } -> tensor<8xi64>
  return %y : tensor<8xi64>
}
