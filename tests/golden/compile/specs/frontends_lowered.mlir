// What no spec replaces of torch and tosa becomes linalg; what has no form there is an error at its place.
// RUN: baton-compile %s --compile-to=preprocessing -o - | FileCheck %s
// RUN: sed 's/-> tensor<1x2x4xf32>$/-> tensor<1x?x4xf32>/; s/%x : tensor<1x2x4xf32> to/%x : tensor<1x?x4xf32> to/' %s > %t.dynamic.mlir
// RUN: baton-compile %t.dynamic.mlir | baton-run-module - --device=local-sync --function=tosa --input=2x4xf32=1,2,3,-4,5,6,7,8 --input=1x4x8xf32=0.25 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: 1x2x8xf32={{.*}}-0.5 -0.5 -0.5 -0.5 -0.5 -0.5 -0.5 -0.5][-6 -6 -6 -6 -6 -6 -6 -6]
// RUN: sed 's/dense<0.0>/dense<1.0>/' %s > %t.zero.mlir
// RUN: not baton-compile %t.zero.mlir -o - 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: zero.mlir:{{[0-9]+}}:8: error: tosa.matmul is not lowered with zero points that are not constants of 0.

// CHECK-LABEL: util.func public @torch(
// CHECK-NOT:     {{torch(_c)?[.]}}
// CHECK:         %[[B:.*]] = tensor.cast %{{.*}} : tensor<4x8xf32> to tensor<?x?xf32>
// CHECK:         %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<2x?xf32>
// CHECK:         %[[F:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[E]] : tensor<2x?xf32>) -> tensor<2x?xf32>
// CHECK:         %[[M:.*]] = linalg.matmul ins(%{{.*}}, %[[B]] : tensor<2x4xf32>, tensor<?x?xf32>) outs(%[[F]] : tensor<2x?xf32>) -> tensor<2x?xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[M]] : tensor<2x?xf32>)
// CHECK:           arith.maximumf
// CHECK-NOT:     {{torch(_c)?[.]}}
func.func @torch(%a: tensor<2x4xf32>, %b: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %x = torch_c.from_builtin_tensor %a : tensor<2x4xf32> -> !torch.vtensor<[2, 4], f32>
  %y = torch_c.from_builtin_tensor %b : tensor<4x8xf32> -> !torch.vtensor<[?, ?], f32>
  %m = torch.aten.mm %x, %y : !torch.vtensor<[2, 4], f32>, !torch.vtensor<[?, ?], f32> -> !torch.vtensor<[2, ?], f32>
  %r = torch.aten.relu %m : !torch.vtensor<[2, ?], f32> -> !torch.vtensor<[2, ?], f32>
  %t = torch_c.to_builtin_tensor %r : !torch.vtensor<[2, ?], f32> -> tensor<2x8xf32>
  return %t : tensor<2x8xf32>
}

// CHECK-LABEL: util.func public @tosa(
// CHECK-NOT:     tosa.
// CHECK:         %[[X:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [1, 2, 4] : tensor<2x4xf32> into tensor<1x2x4xf32>
// CHECK:         linalg.batch_matmul
// CHECK:         arith.minimumf
// CHECK:         arith.maximumf
// CHECK:         arith.negf %{{.*}} : f32
// CHECK-NOT:     tosa.
func.func @tosa(%a: tensor<2x4xf32>, %b: tensor<1x4x8xf32>) -> tensor<1x?x8xf32> {
  %s = tosa.const_shape {values = dense<[1, 2, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %x = tosa.reshape %a, %s : (tensor<2x4xf32>, !tosa.shape<3>) -> tensor<1x2x4xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %d = tensor.cast %x : tensor<1x2x4xf32> to tensor<1x?x4xf32>
  %m = tosa.matmul %d, %b, %z, %z : (tensor<1x?x4xf32>, tensor<1x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x?x8xf32>
  %c = tosa.clamp %m {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  %n = tosa.negate %c, %z, %z : (tensor<1x?x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x?x8xf32>
  return %n : tensor<1x?x8xf32>
}
