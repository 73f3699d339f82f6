// Floats of 8 bits are bytes in memory, also where programs are called; what computes converts.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=widened --input=8xi8="56 -72 64 1 126 127 0 -128" | FileCheck %s --check-prefix=WIDENED
// WIDENED: 8xf32=1 -1 2 0.00195312 448 NAN 0 -0
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=narrowed --input=8xf32="1 -1 465 464 0.001 0.0009 1.0625 1.1875" | FileCheck %s --check-prefix=NARROWED
// NARROWED: 8xi8=56 -72 127 126 1 0 56 58
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=product --input=2x3xi8="56 64 68 -72 0 56" --input=3x2xi8="56 56 64 0 56 -72" | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: 2x2xf32=[8 -2][0 -2]
// Sizes that only the call knows, of one and of two dimensions, into and out of wider types.
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=sum_of_any --input=3xi8="56 64 68" --input=3xi8=56 | FileCheck %s --check-prefix=ANY
// ANY: 3xi8=64 68 72
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=any_narrowed --input=2x2xf32="1 -1 57344 0" | FileCheck %s --check-prefix=ANY-NARROWED
// ANY-NARROWED: 2x2xi8=[60 -68][123 0]
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=any_widened --input=1x3xi8="56 -72 64" | FileCheck %s --check-prefix=ANY-WIDENED
// ANY-WIDENED: 1x3xf64=[1 -1 2]
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=any_widened --input=0x3xi8=0 | FileCheck %s --check-prefix=NONE
// NONE: 0x3xf64=
// RUN: not baton-run-module --module=%t.bvm --device=local-sync --function=sum_of_any --input=3xi8=56 --input=2xi8=56 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: dimension 0 of operand 1 is 2, and of operand 0 it is 3.
// Numbers are compared, not their bytes: by how near they are, and what is no number with what is none.
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=near
// RUN: not baton-run-module --module=%t.bvm --device=local-sync --function=far 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: Element [1] of a 2xf32 is 2; expected is 2.5 within 0.25
func.func @near() {
  %x = util.unfoldable_constant dense<[1.0, 0xFF, -0.0]> : tensor<3xf8E4M3FN>
  %y = util.unfoldable_constant dense<[1.125, 0x7F, 0.0]> : tensor<3xf8E4M3FN>
  check.expect_almost_eq_const(%x, dense<[1.125, 0x7F, 0.0]> : tensor<3xf8E4M3FN>, atol 0.25) : tensor<3xf8E4M3FN>
  check.expect_almost_eq(%x, %y, atol 0.25) : tensor<3xf8E4M3FN>
  return
}
func.func @far() {
  %x = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf8E5M2>
  check.expect_almost_eq_const(%x, dense<[1.0, 2.5]> : tensor<2xf8E5M2>, atol 0.25) : tensor<2xf8E5M2>
  return
}
func.func @widened(%x: tensor<8xf8E4M3FN>) -> tensor<8xf32> {
  %y = arith.extf %x : tensor<8xf8E4M3FN> to tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @narrowed(%x: tensor<8xf32>) -> tensor<8xf8E4M3FN> {
  %y = arith.truncf %x : tensor<8xf32> to tensor<8xf8E4M3FN>
  return %y : tensor<8xf8E4M3FN>
}
func.func @product(%a: tensor<2x3xf8E4M3FN>, %b: tensor<3x2xf8E4M3FN>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = linalg.matmul ins(%a, %b : tensor<2x3xf8E4M3FN>, tensor<3x2xf8E4M3FN>) outs(%start : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %c : tensor<2x2xf32>
}
func.func @sum_of_any(%x: tensor<?xf8E4M3FN>, %y: tensor<?xf8E4M3FN>) -> tensor<?xf8E4M3FN> {
  %sum = arith.addf %x, %y : tensor<?xf8E4M3FN>
  return %sum : tensor<?xf8E4M3FN>
}
func.func @any_narrowed(%x: tensor<?x?xf32>) -> tensor<?x?xf8E5M2> {
  %y = arith.truncf %x : tensor<?x?xf32> to tensor<?x?xf8E5M2>
  return %y : tensor<?x?xf8E5M2>
}
func.func @any_widened(%x: tensor<?x3xf8E4M3FN>) -> tensor<?x3xf64> {
  %y = arith.extf %x : tensor<?x3xf8E4M3FN> to tensor<?x3xf64>
  return %y : tensor<?x3xf64>
}
