// A spec that matches nothing says so, with the candidate that came closest; --verbose-specs shows each candidate and the first
// difference.
// RUN: baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/scaled_exp_spec.mlir -o %t.out 2>&1 | FileCheck %s --check-prefix=QUIET
// RUN: FileCheck %s --check-prefix=SAME --input-file=%t.out
// RUN: baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/scaled_exp_spec.mlir --verbose-specs -o %t.out 2>&1 | FileCheck %s

// QUIET-NOT:  remark
// QUIET:      scaled_exp_spec.mlir:7:19: warning: The spec {{.*}}scaled_exp_spec.mlir matches nothing in the program.
// QUIET:      near_misses.mlir:[[# @LINE + 62]]:8: note: The closest of 7 candidates: 2 operations agree before the first difference.
// QUIET:      near_misses.mlir:[[# @LINE + 59]]:9: note: arith.divf stands where the spec has arith.mulf.
// QUIET:      scaled_exp_spec.mlir:9:15: note: The spec has this.
// QUIET-NOT:  remark
// SAME:       func.func @attribute(
// SAME-NOT:   expo

// CHECK:      near_misses.mlir:[[# @LINE + 6]]:8: remark: The spec does not match this arith.addf.
// CHECK:      near_misses.mlir:[[# @LINE + 5]]:8: note: Attribute 'fastmath' of arith.addf is #arith.fastmath<fast> where the spec has #arith.fastmath<none>.
// CHECK:      scaled_exp_spec.mlir:11:14: note: The spec has this.
func.func @attribute(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>, %c: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %ab = arith.mulf %a, %b : tensor<4x?xf32>
  %e = math.exp %ab : tensor<4x?xf32>
  %r = arith.addf %e, %c fastmath<fast> : tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// CHECK:      note: Attribute 'ours' of math.exp is 1 : i32 where the spec has none.
func.func @extra_attribute(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>, %c: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %ab = arith.mulf %a, %b : tensor<4x?xf32>
  %e = math.exp %ab {ours = 1 : i32} : tensor<4x?xf32>
  %r = arith.addf %e, %c : tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// CHECK:      note: Operand 0 of arith.addf has type tensor<4x?xf64>, which does not cast to the spec's tensor<4x?xf32>.
func.func @element_type(%a: tensor<4x?xf64>, %b: tensor<4x?xf64>, %c: tensor<4x?xf64>) -> tensor<4x?xf64> {
  %ab = arith.mulf %a, %b : tensor<4x?xf64>
  %e = math.exp %ab : tensor<4x?xf64>
  %r = arith.addf %e, %c : tensor<4x?xf64>
  return %r : tensor<4x?xf64>
}

// CHECK:      note: Operand 0 of arith.addf has type tensor<5x8xf32>, which does not cast to the spec's tensor<4x?xf32>.
func.func @shape(%a: tensor<5x8xf32>, %b: tensor<5x8xf32>, %c: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %ab = arith.mulf %a, %b : tensor<5x8xf32>
  %e = math.exp %ab : tensor<5x8xf32>
  %r = arith.addf %e, %c : tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// The sum the other way round.
// CHECK:      note: Operand 0 of arith.addf is argument 2 of its block where the spec has result 0 of math.exp.
func.func @order(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>, %c: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %ab = arith.mulf %a, %b : tensor<4x?xf32>
  %e = math.exp %ab : tensor<4x?xf32>
  %r = arith.addf %c, %e : tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// CHECK:      note: math.exp2 stands where the spec has math.exp.
func.func @name(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>, %c: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %ab = arith.mulf %a, %b : tensor<4x?xf32>
  %e = math.exp2 %ab : tensor<4x?xf32>
  %r = arith.addf %e, %c : tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// CHECK:      note: arith.divf stands where the spec has arith.mulf.
func.func @closest(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>, %c: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %ab = arith.divf %a, %b : tensor<4x?xf32>
  %e = math.exp %ab : tensor<4x?xf32>
  %r = arith.addf %e, %c : tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// CHECK:      scaled_exp_spec.mlir:7:19: remark: This pattern matches nothing in the program.
// CHECK:      warning: The spec {{.*}}scaled_exp_spec.mlir matches nothing in the program.
