// Two layers, one with static sizes: a constant that a fill and a region share is one value in spec and program, the executable
// of the spec arrives once, and the pass "inline" leaves no call behind.
// RUN: baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/layer_spec.mlir | FileCheck %s
// Asking for the indexing maps of a named op leaves an attribute on it, which is not the program's.
// RUN: baton-opt %s --preprocessing-pass-pipeline=canonicalize,cse --preprocessing-transform-spec-filename=%S/inputs/layer_spec.mlir | FileCheck %s
#id = affine_map<(i, j) -> (i, j)>

// CHECK:         stream.executable private @layer_kernels {
// CHECK-NOT:     stream.executable private
// CHECK-LABEL:   util.func public @two_layers(
// CHECK-SAME:        %[[A:[a-z0-9]+]]: tensor<?x?xf32>, %[[B:[a-z0-9]+]]: tensor<?x?xf32>, %[[C:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK-NOT:       linalg
// CHECK-NOT:       util.call
// CHECK:           %[[R:.*]] = flow.dispatch @layer_kernels::@layer_tile(%[[A]], %[[B]], %{{.*}}) : (tensor<?x?xf32>{%{{.*}}, %{{.*}}}, tensor<?x?xf32>{%{{.*}}, %{{.*}}}, i32, i32, i32) -> tensor<?x?xf32>{%{{.*}}, %{{.*}}}
// CHECK:           %[[D:.*]] = tensor.cast %[[C]] : tensor<8x8xf32> to tensor<?x?xf32>
// CHECK:           %[[S:.*]] = flow.dispatch @layer_kernels::@layer_tile(%[[D]], %{{.*}}, %c8_i32, %c8_i32, %c8_i32)
// CHECK:           %[[T:.*]] = tensor.cast %[[S]] : tensor<?x?xf32> to tensor<8x8xf32>
// CHECK:           util.return %[[R]], %[[T]] : tensor<?x?xf32>, tensor<8x8xf32>
util.func public @two_layers(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<8x8xf32>) -> (tensor<?x?xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %init = tensor.empty(%m, %n) : tensor<?x?xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%fill : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) {
    ^bb0(%x: f32, %out: f32):
      %y = arith.maximumf %x, %zero : f32
      linalg.yield %y : f32
  } -> tensor<?x?xf32>
  %init8 = tensor.empty() : tensor<8x8xf32>
  %fill8 = linalg.fill ins(%zero : f32) outs(%init8 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = linalg.matmul ins(%c, %c : tensor<8x8xf32>, tensor<8x8xf32>) outs(%fill8 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<8x8xf32>) outs(%init8 : tensor<8x8xf32>) {
    ^bb0(%x: f32, %out: f32):
      %y = arith.maximumf %x, %zero : f32
      linalg.yield %y : f32
  } -> tensor<8x8xf32>
  util.return %r, %s : tensor<?x?xf32>, tensor<8x8xf32>
}
