// How many rows there are may stand in the type of one operand alone: the sums of a result of open size are written, too.
// RUN: baton-compile --target-device=local %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=main --input=4x512xf32=1 --input=512x64xf32=2 | FileCheck %s
// CHECK: 4x64xf32=[1024 1024
// CHECK-NOT: [0
func.func @main(%x: tensor<4x512xf32>, %w: tensor<512x64xf32>) -> tensor<?x64xf32> {
  %rows = util.unfoldable_constant 4 : index
  %r = flow.dispatch.region -> (tensor<?x64xf32>{%rows}) {
    %zero = arith.constant 0.0 : f32
    %none = tensor.empty(%rows) : tensor<?x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%none : tensor<?x64xf32>) -> tensor<?x64xf32>
    %y = linalg.matmul ins(%x, %w : tensor<4x512xf32>, tensor<512x64xf32>) outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
    flow.return %y : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}
