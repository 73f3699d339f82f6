// A command of a native module says what elements it takes (recorder.scale: si32), and a compiled program tells what its
// tensors have. Elements without a sign stand for those with one; all others are refused by name, before anything runs.
// RUN: baton-compile --target-device=local %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%plugins/recorder.so --module=%t.bvm --function=scaled --input="4xi32=1 2 3 4" | FileCheck %s
// RUN: sed s/4xi32/4xf32/g %s > %t.f32.mlir
// RUN: baton-compile --target-device=local %t.f32.mlir -o %t.bvm
// RUN: not baton-run-module --device=local-sync --module=%plugins/recorder.so --module=%t.bvm --function=scaled --input="4xf32=1 2 3 4" 2>&1 | FileCheck --check-prefix=F32 %s
// RUN: sed s/4xi32/4xf16/g %s > %t.f16.mlir
// RUN: baton-compile --target-device=local %t.f16.mlir -o %t.bvm
// RUN: not baton-run-module --device=local-sync --module=%plugins/recorder.so --module=%t.bvm --function=scaled --input="4xf16=1 2 3 4" 2>&1 | FileCheck --check-prefix=F16 %s
// RUN: sed s/4xi32/2xi64/g %s > %t.i64.mlir
// RUN: baton-compile --target-device=local %t.i64.mlir -o %t.bvm
// RUN: not baton-run-module --device=local-sync --module=%plugins/recorder.so --module=%t.bvm --function=scaled --input="2xi64=1 2" 2>&1 | FileCheck --check-prefix=I64 %s

// CHECK: 4xi32=3 6 9 12
// F32: INVALID_ARGUMENT; Function 'recorder.scale' takes as argument 1 a tensor of si32, not of f32.
// F16: INVALID_ARGUMENT; Function 'recorder.scale' takes as argument 1 a tensor of si32, not of f16.
// I64: INVALID_ARGUMENT; Function 'recorder.scale' takes as argument 1 a tensor of si32, not of i64.
util.func private @recorder.scale(%x: tensor<4xi32>, %factor: i32) -> %x attributes {iree.abi.streamable}
util.func public @scaled(%x: tensor<4xi32>) -> tensor<4xi32> {
  %three = arith.constant 3 : i32
  %0 = util.call @recorder.scale(%x, %three) : (tensor<4xi32>, i32) -> %x
  util.return %0 : tensor<4xi32>
}
