// The operations of torch, torch_c and tosa that programs for this compiler use read, print, and read back as what they were.
// RUN: baton-opt %s | FileCheck %s
// RUN: baton-opt %s > %t.1 && baton-opt %t.1 | diff %t.1 -
// RUN: not baton-opt %S/inputs/torch_type.mlir.txt 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: torch_type.mlir.txt:1:38: error: a size is 0 or more, or ?

// CHECK-LABEL: func.func @torch(
// CHECK-SAME:      %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?x3xf32>) -> tensor<?x3xf32> {
func.func @torch(%a: tensor<?x?xf32>, %b: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // CHECK-NEXT: %[[X:.*]] = torch_c.from_builtin_tensor %[[A]] : tensor<?x?xf32> -> !torch.vtensor<[?,?],f32>
  %x = torch_c.from_builtin_tensor %a : tensor<?x?xf32> -> !torch.vtensor<[?, ?], f32>
  // CHECK-NEXT: %[[Y:.*]] = torch_c.from_builtin_tensor %[[B]] : tensor<?x3xf32> -> !torch.vtensor<[?,3],f32>
  %y = torch_c.from_builtin_tensor %b : tensor<?x3xf32> -> !torch.vtensor<[?,3],f32>
  // CHECK-NEXT: %[[M:.*]] = torch.aten.mm %[[X]], %[[Y]] : !torch.vtensor<[?,?],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  %m = torch.aten.mm %x, %y : !torch.vtensor<[?,?],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  // CHECK-NEXT: %[[R:.*]] = torch.aten.relu %[[M]] : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  %r = torch.aten.relu %m : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  // CHECK-NEXT: torch_c.to_builtin_tensor %[[R]] : !torch.vtensor<[?,3],f32> -> tensor<?x3xf32>
  %t = torch_c.to_builtin_tensor %r : !torch.vtensor<[?,3],f32> -> tensor<?x3xf32>
  return %t : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @tosa(
func.func @tosa(%a: tensor<2x4xf32>, %b: tensor<1x4x8xf32>) -> tensor<1x2x8xf32> {
  // CHECK: %[[S:.*]] = tosa.const_shape {values = dense<[1, 2, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s = tosa.const_shape {values = dense<[1, 2, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  // CHECK: tosa.reshape %{{.*}}, %[[S]] : (tensor<2x4xf32>, !tosa.shape<3>) -> tensor<1x2x4xf32>
  %x = tosa.reshape %a, %s : (tensor<2x4xf32>, !tosa.shape<3>) -> tensor<1x2x4xf32>
  // CHECK: %[[Z:.*]] = tosa.const {values = dense<0.000000e+00> : tensor<1xf32>} : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // CHECK: %[[M:.*]] = tosa.matmul %{{.*}}, %{{.*}}, %[[Z]], %[[Z]] : (tensor<1x2x4xf32>, tensor<1x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
  %m = tosa.matmul %x, %b, %z, %z : (tensor<1x2x4xf32>, tensor<1x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
  // CHECK: %[[C:.*]] = tosa.clamp %[[M]] {max_val = 3.40282347E+38 : f32, min_val = 0.000000e+00 : f32} : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %c = tosa.clamp %m {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  // CHECK: tosa.negate %[[C]], %[[Z]], %[[Z]] : (tensor<1x2x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
  %n = tosa.negate %c, %z, %z : (tensor<1x2x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
  return %n : tensor<1x2x8xf32>
}
