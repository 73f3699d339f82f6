// Softmax, packing, flow's operations on whole tensors, expectations of two tensors: what programs of others hold.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-task %t.bvm --function=softmax --input=2x3xf32=1,1,1,0,0,100 > %t.out
// RUN: baton-run-module --device=local-task %t.bvm --function=pack --input=3x5xf32=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 >> %t.out
// RUN: baton-run-module --device=local-task %t.bvm --function=views --input=4xf32=1,-0.0,0,2 >> %t.out
// RUN: baton-run-module --device=local-task %t.bvm --function=same >> %t.out
// RUN: FileCheck %s < %t.out
// RUN: not baton-run-module --device=local-task %t.bvm --function=differs 2>&1 | FileCheck --check-prefix=DIFFERS %s
// RUN: baton-compile --compile-to=input %s | FileCheck --check-prefix=PRINTED %s

// CHECK: EXEC @softmax
// CHECK: 2x3xf32=[0.33{{[0-9]*}} 0.33{{[0-9]*}} 0.33{{[0-9]*}}][{{.*}} 1]
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK: EXEC @pack
// CHECK: 2x2x2x4xf32={{.*}}1 2 3 4{{.*}}6 7 8 9{{.*}}5 -1 -1 -1{{.*}}10 -1 -1 -1{{.*}}11 12 13 14{{.*}}-1 -1 -1 -1
// CHECK: 3x5xf32=[1 2 3 4 5][6 7 8 9 10][11 12 13 14 15]
func.func @pack(%x: tensor<3x5xf32>) -> (tensor<2x2x2x4xf32>, tensor<3x5xf32>) {
  %c = arith.constant -1.0 : f32
  %e = tensor.empty() : tensor<2x2x2x4xf32>
  %0 = tensor.pack %x padding_value(%c : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<3x5xf32> -> tensor<2x2x2x4xf32>
  %f = tensor.empty() : tensor<3x5xf32>
  %1 = tensor.unpack %0 inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %f : tensor<2x2x2x4xf32> -> tensor<3x5xf32>
  return %0, %1 : tensor<2x2x2x4xf32>, tensor<3x5xf32>
}

// PRINTED: flow.tensor.tie_shape %{{.*}} : tensor<?xf32>{%{{.*}}}
// PRINTED: flow.tensor.bitcast %{{.*}} : tensor<?xf32>{%{{.*}}} -> tensor<?xi32>{%{{.*}}}
// PRINTED: flow.tensor.reshape %{{.*}} : tensor<?xi32>{%{{.*}}} -> tensor<?x2xi32>{%{{.*}}}
// PRINTED: flow.tensor.dynamic_constant dense<[1, 2, 3]> : tensor<3xi32> -> tensor<?xi32>
// CHECK: EXEC @views
// CHECK: 2x2xi32=[1065353216 -2147483648][0 1073741824]
// CHECK: 3xi32=1 2 3
func.func @views(%x: tensor<?xf32>) -> (tensor<?x2xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.divui %n, %c2 : index
  %0 = flow.tensor.tie_shape %x : tensor<?xf32>{%n}
  %1 = flow.tensor.bitcast %0 : tensor<?xf32>{%n} -> tensor<?xi32>{%n}
  %2 = flow.tensor.reshape %1 : tensor<?xi32>{%n} -> tensor<?x2xi32>{%m}
  %3 = flow.tensor.dynamic_constant dense<[1, 2, 3]> : tensor<3xi32> -> tensor<?xi32>
  return %2, %3 : tensor<?x2xi32>, tensor<?xi32>
}

// CHECK: EXEC @same
func.func @same() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = util.unfoldable_constant dense<[1.0, 2.00001]> : tensor<2xf32>
  check.expect_eq(%a, %a) : tensor<2xf32>
  check.expect_almost_eq(%a, %b) : tensor<2xf32>
  check.expect_almost_eq(%a, %b, atol 1.0e-3) : tensor<2xf32>
  return
}

// DIFFERS: Element [1] of a 2xf32 is 2; expected is 3
func.func @differs() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = util.unfoldable_constant dense<[1.0, 3.0]> : tensor<2xf32>
  check.expect_eq(%a, %b) : tensor<2xf32>
  return
}
