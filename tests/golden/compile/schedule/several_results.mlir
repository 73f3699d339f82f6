// What goes element by element and makes a result that is read once more on the way is done with its reader where cores compute: one
// kernel writes both. A result that is read before that, or at other places, stays a kernel of its own.
// RUN: baton-compile --target-device=local --cpu-levels=avx2 --compile-to=flow %s | FileCheck %s --check-prefix=FLOW
// RUN: baton-compile --target-device=local --cpu-levels=avx2 %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=step --input=128x128xf32=8 --input=128x128xf32=2 --input=128x128xf32=1 | FileCheck %s --check-prefix=STEP
// RUN: baton-run-module %t.bvm --device=local-sync --function=turned --input=128x128xf32=3 | FileCheck %s --check-prefix=TURNED

// FLOW-LABEL: util.func public @step
// FLOW: flow.dispatch {{.*}} -> (tensor<128x128xf32>, tensor<128x128xf32>)
// FLOW-NOT: flow.dispatch
// FLOW: util.return
// STEP: 128x128xf32=[5 5
// STEP: 128x128xf32=[3 3
func.func @step(%weights: tensor<128x128xf32>, %moment: tensor<128x128xf32>, %gradient: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %next = arith.addf %moment, %gradient : tensor<128x128xf32>
  %r = arith.subf %weights, %next : tensor<128x128xf32>
  return %r, %next : tensor<128x128xf32>, tensor<128x128xf32>
}

// FLOW-LABEL: util.func public @turned
// FLOW-COUNT-2: flow.dispatch
// TURNED: 128x128xf32=[6 6
// TURNED: 128x128xf32=[12 12
func.func @turned(%x: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %next = arith.addf %x, %x : tensor<128x128xf32>
  %e = tensor.empty() : tensor<128x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%next, %next : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<128x128xf32>
  return %next, %r : tensor<128x128xf32>, tensor<128x128xf32>
}
