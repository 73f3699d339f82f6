// A program of two CUDA devices, on GPUs that are faked: kernels run where it says, and what crosses is copied by peer access,
// or through the host where the GPUs do not reach each other. The fake refuses copies of memory that was not opened to a GPU.
// REQUIRES: fake-gpu, plain
// RUN: baton-compile %s --target-device=cuda -o %t.bvm
// RUN: env BATON_FAKE_LOG=%t.peers %{fake_gpu} baton-run-module %t.bvm --device=cuda://0 --device=cuda://1 --function=main --input="8xi32=1 2 3 4 5 6 7 8" --input=8xi32=100 | FileCheck %s --check-prefix=SUMS
// RUN: FileCheck %s --check-prefix=PEERS < %t.peers
// RUN: env BATON_FAKE_PEERS=0 BATON_FAKE_LOG=%t.staged %{fake_gpu} baton-run-module %t.bvm --device=cuda://0 --device=cuda://1 --function=main --input="8xi32=1 2 3 4 5 6 7 8" --input=8xi32=100 | FileCheck %s --check-prefix=SUMS
// RUN: FileCheck %s --check-prefix=STAGED < %t.staged
// RUN: %{fake_gpu} baton-run-module %t.bvm "--device=cuda://0?cuda_mode=graph" "--device=cuda://1?cuda_mode=stream" --function=main --input="8xi32=1 2 3 4 5 6 7 8" --input=8xi32=100 | FileCheck %s --check-prefix=SUMS
// The devices that the host gives are counted, whatever their numbers.
// RUN: %{fake_gpu} baton-run-module %t.bvm --device=cuda://1 --device=cuda://0 --function=main --input="8xi32=1 2 3 4 5 6 7 8" --input=8xi32=100 | FileCheck %s --check-prefix=SUMS
// SUMS: 8xi32=102 104 106 108 110 112 114 116
// SUMS: 8xi32=4 8 12 16 20 24 28 32
// PEERS: cuCtxEnablePeerAccess 1 to 0
// PEERS-NEXT: cuMemPoolSetAccess 0 to 1
// PEERS-NEXT: cuMemcpyAsync 32
// STAGED-NOT: cuMemPoolSetAccess 0 to 1
// STAGED-NOT: cuMemPoolSetAccess 1 to 0
// What cannot be honoured is refused.
// RUN: not %{fake_gpu} baton-run-module %t.bvm --device=cuda://0 --function=main --input=8xi32=1 --input=8xi32=2 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: NOT_FOUND; The program's device @b is cuda[1]; the devices given are: cuda
// RUN: not %{fake_gpu} baton-run-module %t.bvm --device=cuda://0 --device=cuda://2 --function=main --input=8xi32=1 --input=8xi32=2 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: NOT_FOUND; There is no CUDA device '2'; there are: 0 ({{.*}}), 1 (
// RUN: not %{fake_gpu} baton-run-module %t.bvm --device=cuda://0 --device=local-sync --function=main --input=8xi32=1 --input=8xi32=2 2>&1 | FileCheck %s --check-prefix=KIND
// One GPU may stand for both.
// RUN: %{fake_gpu} baton-run-module %t.bvm --device=cuda://0 --device=cuda://0 --function=main --input="8xi32=1 2 3 4 5 6 7 8" --input=8xi32=100 | FileCheck %s --check-prefix=SUMS
// KIND: NOT_FOUND; The program's device @b is cuda[1]
util.global private @a = #hal.device.alias<"cuda"> : !hal.device
util.global private @b = #hal.device.alias<"cuda"[1]> : !hal.device

// The fake runs a kernel of this name by itself.
stream.executable private @kernels {
  stream.executable.export public @add workgroups(%n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %n, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @add(%left: !stream.binding, %right: !stream.binding, %target: !stream.binding, %count: i32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.index_cast %count : i32 to index
      %a = stream.binding.subspan %left[%c0] : !stream.binding -> memref<?xi32>{%n}
      %b = stream.binding.subspan %right[%c0] : !stream.binding -> memref<?xi32>{%n}
      %c = stream.binding.subspan %target[%c0] : !stream.binding -> memref<?xi32>{%n}
      scf.for %i = %c0 to %n step %c1 {
        %x = memref.load %a[%i] : memref<?xi32>
        %y = memref.load %b[%i] : memref<?xi32>
        %z = arith.addi %x, %y : i32
        memref.store %z, %c[%i] : memref<?xi32>
      }
      return
    }
  }
}

// x + x on the first, and y to that on the second; back on the first, beside what is made there alone.
func.func @main(%x: tensor<8xi32>, %y: tensor<8xi32> {iree.abi.affinity = #hal.device.affinity<@b>}) -> (tensor<8xi32>, tensor<8xi32>) {
  %c1 = arith.constant 1 : index
  %n = arith.constant 8 : i32
  %twice = flow.dispatch @kernels::@add[%c1](%x, %x, %n) {stream.affinity = #hal.device.affinity<@a>} : (tensor<8xi32>, tensor<8xi32>, i32) -> tensor<8xi32>
  %there = flow.tensor.transfer %twice : tensor<8xi32> to #hal.device.affinity<@b>
  %sum = flow.dispatch @kernels::@add[%c1](%there, %y, %n) {stream.affinity = #hal.device.affinity<@b>} : (tensor<8xi32>, tensor<8xi32>, i32) -> tensor<8xi32>
  %back = flow.tensor.transfer %sum : tensor<8xi32> to #hal.device.affinity<@a>
  %more = flow.dispatch @kernels::@add[%c1](%twice, %twice, %n) {stream.affinity = #hal.device.affinity<@a>} : (tensor<8xi32>, tensor<8xi32>, i32) -> tensor<8xi32>
  return %back, %more : tensor<8xi32>, tensor<8xi32>
}
