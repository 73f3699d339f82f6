// Sums in f32 of products in bf16 stand in a tile's memory: a tile has as many matrices of a batch as fit there.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=product --input="64x33x2xbf16=1.5" --input="64x2x33xbf16=1" | FileCheck %s

// CHECK: 64x33x33xbf16=
// CHECK-SAME: 3 3 3
func.func @product(%a: tensor<64x33x2xbf16>, %b: tensor<64x2x33xbf16>) -> tensor<64x33x33xbf16> {
  %zero = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<64x33x33xbf16>
  %filled = linalg.fill ins(%zero : bf16) outs(%empty : tensor<64x33x33xbf16>) -> tensor<64x33x33xbf16>
  %c = linalg.batch_matmul ins(%a, %b : tensor<64x33x2xbf16>, tensor<64x2x33xbf16>) outs(%filled : tensor<64x33x33xbf16>) -> tensor<64x33x33xbf16>
  return %c : tensor<64x33x33xbf16>
}
