// What makes a tensor smaller, element by element, joins what made it, though slices or another shape stand between.
// RUN: baton-compile --compile-to=dispatch-creation %s | FileCheck %s
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=main --input=12xf32=3 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: 4xf16=8 9 10 11
// NUMBERS: 4xf16=12 13 14 15

// CHECK-LABEL: @main
// CHECK: flow.dispatch {{.*}} -> tensor<12xf16>
// CHECK-NOT: flow.dispatch
// CHECK: util.return
func.func @main(%x: tensor<12xf32>) -> (tensor<2x2xf16>, tensor<4xf16>, tensor<4xf16>) {
  %none = tensor.empty() : tensor<12xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<12xf32>) outs(%none : tensor<12xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %a, %f : f32
    %one = arith.constant 1.0 : f32
    %r = arith.addf %s, %one : f32
    linalg.yield %r : f32
  } -> tensor<12xf32>
  %a = tensor.extract_slice %made[0] [4] [1] : tensor<12xf32> to tensor<4xf32>
  %b = tensor.extract_slice %made[4] [4] [1] : tensor<12xf32> to tensor<4xf32>
  %c = tensor.extract_slice %made[8] [4] [1] : tensor<12xf32> to tensor<4xf32>
  %ha = arith.truncf %a : tensor<4xf32> to tensor<4xf16>
  %hb = arith.truncf %b : tensor<4xf32> to tensor<4xf16>
  %hc = arith.truncf %c : tensor<4xf32> to tensor<4xf16>
  %square = tensor.expand_shape %ha [[0, 1]] output_shape [2, 2] : tensor<4xf16> into tensor<2x2xf16>
  return %square, %hb, %hc : tensor<2x2xf16>, tensor<4xf16>, tensor<4xf16>
}

// One of the slices is read as it is: nothing is narrowed before.
// CHECK-LABEL: @kept
// CHECK: flow.dispatch {{.*}} -> tensor<8xf32>
// CHECK: util.return
func.func @kept(%x: tensor<8xf32>) -> (tensor<4xf16>, tensor<4xf32>) {
  %none = tensor.empty() : tensor<8xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%none : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %a = tensor.extract_slice %made[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b = tensor.extract_slice %made[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %ha = arith.truncf %a : tensor<4xf32> to tensor<4xf16>
  return %ha, %b : tensor<4xf16>, tensor<4xf32>
}
