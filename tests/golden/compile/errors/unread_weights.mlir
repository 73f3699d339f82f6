// Weights that IREE reads from files are named with what does instead.
// RUN: not baton-compile %s 2>&1 | FileCheck %s
// CHECK: unread_weights.mlir:[[@LINE+1]]:{{[0-9]+}}: error: #flow.parameter.named is not read: weights of files are arguments of functions, or constants of the program.
util.global private @w = #flow.parameter.named<"scope"::"w"> : tensor<2xi32>
