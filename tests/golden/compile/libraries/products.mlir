// Products that a library takes: who takes what is said, the plan names both, the program runs with and without.
// REQUIRES: native
// RUN: baton-compile --library=%S/inputs/every.library.mlir --explain %s -o %t.bvm 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: baton-compile --library=%S/inputs/every.library.mlir --dump-schedule %s | FileCheck %s --check-prefix=PLAN
// RUN: baton-dump-module --explain %t.bvm | FileCheck %s --check-prefix=ABSENT
// RUN: baton-run-module --device=null --device_trace=- --module=%libraries/blas.so --module=%t.bvm --function=layer --input=64x96xf32 --input=96x128xf32 --input=128xf32 | FileCheck %s --check-prefix=TAKEN
// RUN: baton-run-module --device=null --device_trace=- --module=%t.bvm --function=layer --input=64x96xf32 --input=96x128xf32 --input=128xf32 | FileCheck %s --check-prefix=GENERATED
// RUN: baton-run-module --device=local-sync --module=%libraries/blas.so --module=%t.bvm --function=layer --input=64x96xf32=2 --input=96x128xf32=3 --input=128xf32=-500 | FileCheck %s
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=layer --input=64x96xf32=2 --input=96x128xf32=3 --input=128xf32=-500 | FileCheck %s
// RUN: baton-run-module --device=local-sync "--module=%libraries/blas.so?library=/nowhere.so&report=1" --module=%t.bvm --function=layer --input=64x96xf32=2 --input=96x128xf32=3 --input=128xf32=-500 2>&1 | FileCheck %s --check-prefixes=MISSING,CHECK

// MISSING: blas: is not there: A library cannot be opened: /nowhere.so: cannot open shared object file
// CHECK: 64x128xf32=[76 76 76

// EXPLAIN: products.mlir:[[#@LINE+11]]:8: a product of 64x128x96 in f32 f32 f32: blas.gemm_bias_relu, else generated
// PLAN: recording layer.0, recorded once
// PLAN: dispatch layer_0_generic or blas.gemm_bias_relu
// ABSENT: blas: 2 functions, all optional; nobody here provides them
// ABSENT: absent blas.available is (hal.device) -> (i32) (optional: @library.absent runs instead)
// TAKEN: foreign function=blas.gemm 64x128x96
// GENERATED: dispatch entry_point=dispatch_groups.layer_0_generic
func.func @layer(%a: tensor<64x96xf32>, %b: tensor<96x128xf32>, %x: tensor<128xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x128xf32>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%r, %x : tensor<64x128xf32>, tensor<128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.addf %p, %q : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<64x128xf32>
  return %s : tensor<64x128xf32>
}

// What stays generated, and why.
// EXPLAIN: products.mlir:[[#@LINE+5]]:8: a product of 4x4x4 in f32 f32 f32, stays generated; blas: has 4 rows, and it is worth it from 8 on
func.func @small(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
// EXPLAIN: a product of 64x64x64 in i32 i32 i32, stays generated
func.func @integers(%a: tensor<64x64xi32>, %b: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %e = tensor.empty() : tensor<64x64xi32>
  %zero = arith.constant 0 : i32
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xi32>, tensor<64x64xi32>) outs(%f : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}
// EXPLAIN: a product of 64x64x64 in f32 f32 f32, stays generated: it adds to something
func.func @adds(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
