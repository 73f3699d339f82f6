// A body of linalg.map that reads what outs hold is no map to MLIR 19.
// RUN: not baton-compile %s 2>&1 | FileCheck %s
// CHECK: later_map.mlir:[[@LINE+2]]:{{[0-9]+}}: error: linalg.map is not lowered; linalg.generic, which reads what outs hold, is.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.map ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) (%a: f32, %out: f32) {
    %sum = arith.addf %a, %out : f32
    linalg.yield %sum : f32
  }
  return %r : tensor<4xf32>
}
