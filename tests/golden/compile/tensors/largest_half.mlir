// The largest of halves is found in f32, of which processors have vectors: rows and columns, beginnings that win, not-a-number, and the
// smallest with the sign of zero.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=rows --input="2x5xf16=1 -2 65504 3 4 -5 -6 -1 -8 -7" --input="2xf16=2 -0.5" | FileCheck --check-prefix=ROWS %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=rows --input="2x5xf16=1 nan 65504 3 4 -inf -inf -inf -inf -inf" --input="2xf16=2 -inf" | FileCheck --check-prefix=ODD %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=columns --input="3x2xbf16=1 -0.0 3 0.0 -3 0.0" | FileCheck --check-prefix=COLUMNS %s

// ROWS: 2xf16=65504 -0.5
// ODD: 2xf16={{-?}}NAN -INF
// COLUMNS: 2xbf16=-3 -0
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
func.func @rows(%a: tensor<2x5xf16>, %begin: tensor<2xf16>) -> tensor<2xf16> {
  %c = linalg.generic {indexing_maps = [#matrix, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<2x5xf16>) outs(%begin : tensor<2xf16>) {
  ^bb0(%x: f16, %y: f16):
    %m = arith.maximumf %y, %x : f16
    linalg.yield %m : f16
  } -> tensor<2xf16>
  return %c : tensor<2xf16>
}
#columns = affine_map<(d0, d1) -> (d1)>
func.func @columns(%a: tensor<3x2xbf16>) -> tensor<2xbf16> {
  %inf = arith.constant 0x7F80 : bf16
  %empty = tensor.empty() : tensor<2xbf16>
  %begin = linalg.fill ins(%inf : bf16) outs(%empty : tensor<2xbf16>) -> tensor<2xbf16>
  %c = linalg.generic {indexing_maps = [#matrix, #columns], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<3x2xbf16>) outs(%begin : tensor<2xbf16>) {
  ^bb0(%x: bf16, %y: bf16):
    %m = arith.minimumf %y, %x : bf16
    linalg.yield %m : bf16
  } -> tensor<2xbf16>
  return %c : tensor<2xbf16>
}
