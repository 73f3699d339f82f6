// A program whose only operation of TOSA 1.0 has its own word in arith.
// RUN: baton-compile %s | baton-run-module - --device=local-sync --function=divide --input=4xi32=7,-7,8,0 --input=4xi32=2,2,-3,5 | FileCheck %s
// CHECK: 4xi32=3 -3 -2 0
func.func @divide(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %quotient = tosa.intdiv %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %quotient : tensor<4xi32>
}
