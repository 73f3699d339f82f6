// A loop on the host for a GPU: what its kernels learn of the turn each execution says, so that a turn is recorded once; on cores it is
// recorded by calls. A branch waits once for what is in flight, however many tensors it hands on.
// RUN: baton-compile --target-device=cuda --dump-schedule %s | FileCheck %s
// RUN: baton-compile --target-device=local --dump-schedule %s | FileCheck %s --check-prefix=CORES
// RUN: baton-compile --target-device=cuda --compile-to=hal %s | FileCheck %s --check-prefix=HOST
// RUN: baton-compile --target-device=vulkan %s -o %t.vulkan.bvm
// RUN: baton-compile --target-device=local %s -o %t.local.bvm
// RUN: baton-run-module %t.local.bvm --device=local-task --function=turns --input=600x600xi32=1 --output=@%t.npy --output=nothing
// RUN: %if native %{ baton-run-module %t.vulkan.bvm "--device=%vulkan" --function=turns --input=600x600xi32=1 --expected_output=@%t.npy --expected_output="(ignored)" %}
// CHECK: recording turns.{{[0-9]}}, recorded once
// CHECK-NOT: recorded by calls
// CORES: recorded by calls
// HOST: @hal.command_buffer.dispatch_with_slots
// HOST-LABEL: util.func public @turns
// HOST: ^bb2
// HOST: @hal.queue.execute{{.*}}segments([{{[0-9]+}}, 1])
// HOST: @hal.fence.await
// HOST-NOT: @hal.fence.await
// HOST: cf.br ^bb1
#here = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @turns(%x: tensor<600x600xi32>) -> (tensor<600x600xi32>, tensor<600x600xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%a = %x, %b = %x) -> (tensor<600x600xi32>, tensor<600x600xi32>) {
    %k = arith.index_cast %t : index to i32
    %e = tensor.empty() : tensor<600x600xi32>
    %n = linalg.generic {indexing_maps = [#here, #turned, #here], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<600x600xi32>, tensor<600x600xi32>) outs(%e : tensor<600x600xi32>) {
    ^bb0(%v: i32, %w: i32, %o: i32):
      %s = arith.addi %v, %w : i32
      %q = arith.addi %s, %k : i32
      %i = linalg.index 1 : index
      %p = arith.index_cast %i : index to i32
      %y = arith.xori %q, %p : i32
      linalg.yield %y : i32
    } -> tensor<600x600xi32>
    scf.yield %n, %a : tensor<600x600xi32>, tensor<600x600xi32>
  }
  return %r#0, %r#1 : tensor<600x600xi32>, tensor<600x600xi32>
}
