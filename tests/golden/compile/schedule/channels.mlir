// What belongs to channels that lie side by side: a root and a quotient for each channel are computed once where cores compute, not
// for each pixel, and a difference that several read of a large tensor is computed by each of them, not written and read. On a GPU
// a kernel more would take longer.
// RUN: baton-compile --target-device=local --cpu-levels=avx2 --compile-to=flow %s | FileCheck %s --check-prefix=FLOW
// RUN: baton-compile --target-device=cuda --compile-to=flow %s | FileCheck %s --check-prefix=BLOCKS

#pixel = affine_map<(p, c) -> (p, c)>
#channel = affine_map<(p, c) -> (c)>
#row = affine_map<(p, c) -> (p)>
// FLOW-LABEL: util.func public @scaled
// FLOW: %[[ROOT:.*]] = flow.dispatch {{.*}} -> tensor<64xf32>
// FLOW: flow.dispatch {{.*}}%[[ROOT]]
// BLOCKS-LABEL: util.func public @scaled
// BLOCKS: flow.dispatch {{.*}} -> tensor<4096x64xf32>
func.func @scaled(%x: tensor<4096x64xf32>, %variance: tensor<64xf32>) -> tensor<4096x64xf32> {
  %root = math.rsqrt %variance : tensor<64xf32>
  %e = tensor.empty() : tensor<4096x64xf32>
  %r = linalg.generic {indexing_maps = [#pixel, #channel, #pixel], iterator_types = ["parallel", "parallel"]}
      ins(%x, %root : tensor<4096x64xf32>, tensor<64xf32>) outs(%e : tensor<4096x64xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %p = arith.mulf %v, %s : f32
    linalg.yield %p : f32
  } -> tensor<4096x64xf32>
  return %r : tensor<4096x64xf32>
}

// A number of each row is computed before the loop along it.
// FLOW-LABEL: util.func public @scaled_rows
// FLOW: flow.dispatch {{.*}} -> tensor<4096x64xf32>
func.func @scaled_rows(%x: tensor<4096x64xf32>, %variance: tensor<4096xf32>) -> tensor<4096x64xf32> {
  %root = math.rsqrt %variance : tensor<4096xf32>
  %e = tensor.empty() : tensor<4096x64xf32>
  %r = linalg.generic {indexing_maps = [#pixel, #row, #pixel], iterator_types = ["parallel", "parallel"]}
      ins(%x, %root : tensor<4096x64xf32>, tensor<4096xf32>) outs(%e : tensor<4096x64xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %p = arith.mulf %v, %s : f32
    linalg.yield %p : f32
  } -> tensor<4096x64xf32>
  return %r : tensor<4096x64xf32>
}

// FLOW-LABEL: util.func public @centred
// FLOW-NOT: flow.dispatch {{.*}} -> tensor<8192x64xf32>
// FLOW: %[[SUM:.*]] = flow.dispatch {{.*}} -> tensor<64xf32>
// FLOW: flow.dispatch {{.*}}%[[SUM]]
// FLOW: util.return
func.func @centred(%x: tensor<8192x64xf32>, %mean: tensor<64xf32>) -> tensor<8192x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x64xf32>
  %centred = linalg.generic {indexing_maps = [#pixel, #channel, #pixel], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<8192x64xf32>, tensor<64xf32>) outs(%e : tensor<8192x64xf32>) {
  ^bb0(%v: f32, %m: f32, %o: f32):
    %d = arith.subf %v, %m : f32
    linalg.yield %d : f32
  } -> tensor<8192x64xf32>
  %c = tensor.empty() : tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#pixel, #channel], iterator_types = ["reduction", "parallel"]}
      ins(%centred : tensor<8192x64xf32>) outs(%none : tensor<64xf32>) {
  ^bb0(%v: f32, %s: f32):
    %q = arith.mulf %v, %v : f32
    %n = arith.addf %s, %q : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#pixel, #channel, #pixel], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %sum : tensor<8192x64xf32>, tensor<64xf32>) outs(%e : tensor<8192x64xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %p = arith.mulf %v, %s : f32
    linalg.yield %p : f32
  } -> tensor<8192x64xf32>
  return %r : tensor<8192x64xf32>
}
