// What is beyond the largest f16 is infinite where numbers are compared or made integers of, in the middle of a kernel that computes
// in f32, too; and an integer that becomes f16 is.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=finite --input="4xf16=300 255 -300 3" | FileCheck --check-prefix=FINITE %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=whole --input="4xf16=2.5 45.25 0.5 -45.25" | FileCheck --check-prefix=WHOLE %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=integers --input="4xi32=70000 2049 -70000 3" | FileCheck --check-prefix=INTEGERS %s

#all = affine_map<(d0) -> (d0)>
// FINITE: 4xi1=0 1 0 1
func.func @finite(%a: tensor<4xf16>) -> tensor<4xi1> {
  %e = tensor.empty() : tensor<4xi1>
  %infinite = arith.constant 0x7C00 : f16
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]} ins(%a : tensor<4xf16>) outs(%e : tensor<4xi1>) {
  ^bb0(%x: f16, %y: i1):
    %square = arith.mulf %x, %x : f16
    %size = math.absf %square : f16
    %is = arith.cmpf one, %size, %infinite : f16
    linalg.yield %is : i1
  } -> tensor<4xi1>
  return %r : tensor<4xi1>
}

// Above 2048 there are even ones only: 2047.5625 is 2048.
// WHOLE: 4xi32=6 2048 0 2048
func.func @whole(%a: tensor<4xf16>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]} ins(%a : tensor<4xf16>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: f16, %y: i32):
    %square = arith.mulf %x, %x : f16
    %whole = arith.fptosi %square : f16 to i32
    linalg.yield %whole : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// INTEGERS: 4xf16=INF 1024 -INF 1.5
func.func @integers(%a: tensor<4xi32>) -> tensor<4xf16> {
  %e = tensor.empty() : tensor<4xf16>
  %half = arith.constant 0.5 : f16
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xf16>) {
  ^bb0(%x: i32, %y: f16):
    %number = arith.sitofp %x : i32 to f16
    %less = arith.mulf %number, %half : f16
    linalg.yield %less : f16
  } -> tensor<4xf16>
  return %r : tensor<4xf16>
}
