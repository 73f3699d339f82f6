// Floats that MLIR 19 has no type for are named, with those that there are; what stands in comments and strings is none of the program.
// RUN: not baton-compile %s 2>&1 | FileCheck %s
// CHECK: later_floats.mlir:[[@LINE+4]]:{{[0-9]+}}: error: floats of the type f8E8M0FNU are not lowered: of floats below 16 bits there are f8E5M2,
// CHECK-NOT: f4E2M1FN
func.func private @f.f(tensor<4xf32>) attributes {note = "tensor<4xf4E2M1FN>"}
// tensor<4xf4E2M1FN>
func.func @scaled(%x: tensor<4xf8E8M0FNU>) {
  return
}
