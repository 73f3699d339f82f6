// A pattern over torch's operations: the type is one whatever spaces it is written with, the rewrite stands at the product and
// replaces what comes two operations later, and nothing of torch is left.
// RUN: baton-opt %s --pass-pipeline='builtin.module(iree-preprocessing-apply-pdl-patterns{patterns-file=%S/inputs/torch_layer_spec.pdl.mlir})' | FileCheck %s

// CHECK-LABEL:   stream.executable private @layer_f32_f32_f32_i32_executable {
// CHECK:             func.func private @layer(memref<f32>, index, memref<f32>, index, memref<f32>, index, i32) attributes {llvm.bareptr = [true]}
// CHECK-LABEL:   func.func @main(
// CHECK-SAME:        %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?x?xf32>)
// CHECK-NOT:       torch
// CHECK:           %[[R:.*]] = flow.dispatch @layer_f32_f32_f32_i32_executable::@layer_entry_point(%[[A]], %[[B]],
// CHECK-NOT:       torch
// CHECK:           return %[[R]] : tensor<?x?xf32>
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %x = torch_c.from_builtin_tensor %a : tensor<?x?xf32> -> !torch.vtensor<[?, ?], f32>
  %y = torch_c.from_builtin_tensor %b : tensor<?x?xf32> -> !torch.vtensor<[?, ?], f32>
  %m = torch.aten.mm %x, %y : !torch.vtensor<[?, ?], f32>, !torch.vtensor<[?, ?], f32> -> !torch.vtensor<[?, ?], f32>
  %r = torch.aten.relu %m : !torch.vtensor<[?, ?], f32> -> !torch.vtensor<[?, ?], f32>
  %t = torch_c.to_builtin_tensor %r : !torch.vtensor<[?, ?], f32> -> tensor<?x?xf32>
  return %t : tensor<?x?xf32>
}
