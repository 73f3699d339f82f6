// A custom command that calls NCCL itself (samples/collectives/nccl.cpp), on GPUs and an NCCL that are faked: enqueued on a
// stream, or captured into a graph, where each round of the loop exchanges it for one with other memory.
// REQUIRES: fake-gpu, plain
// RUN: baton-compile %s --target-device=cuda -o %t.bvm
// RUN: env BATON_FAKE_LOG=%t.log %{fake_gpu} baton-run-module --module=%samples/collectives/nccl.so --module=%t.bvm "--device=cuda?cuda_mode=graph" --function=rounds --input="8xf32=1 2 3 4 5 6 7 8" --input=i32=5 | FileCheck %s --check-prefix=ALONE
// ALONE: 8xf32=1 2 3 4 5 6 7 8
// RUN: FileCheck %s --check-prefix=LOG < %t.log
// LOG: cuStreamBeginCaptureToGraph
// LOG: cuGraphAddChildGraphNode
// LOG: cuGraphLaunch
// LOG: cuStreamBeginCaptureToGraph
// LOG: cuGraphExecChildGraphNodeSetParams
// LOG: cuGraphLaunch
// Two ranks on two GPUs: 1 and 2 make 3, the largest is 2; then 3 and 3 make 6.
// RUN: rm -f %t.id
// RUN: %{fake_gpu} %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-run-module "--module=%samples/collectives/nccl.so?ranks=2&rank={rank}&id=%t.id" --module=%t.bvm "--device=cuda://{rank}?cuda_mode=graph" --function=sums @0:--input=8xf32=1 @1:--input=8xf32=2 | FileCheck %s --check-prefix=SUMS
// SUMS: 8xf32=3 3 3 3 3 3 3 3
// SUMS: 8xf32=2 2 2 2 2 2 2 2
// SUMS: 8xf32=3 3 3 3 3 3 3 3
// SUMS: 8xf32=2 2 2 2 2 2 2 2
// RUN: rm -f %t.id
// RUN: %{fake_gpu} %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-run-module "--module=%samples/collectives/nccl.so?ranks=2&rank={rank}&id=%t.id" --module=%t.bvm "--device=cuda://{rank}?cuda_mode=stream" --function=rounds @0:--input=8xf32=1 @1:--input=8xf32=2 --input=i32=3 | FileCheck %s --check-prefix=ROUNDS
// ROUNDS: 8xf32=12 12 12 12 12 12 12 12
// ROUNDS: 8xf32=12 12 12 12 12 12 12 12
// What cannot be is said: a GPU for two ranks, an id that is none, a library that is missing, ranks that are told wrongly.
// RUN: rm -f %t.id
// RUN: not %{fake_gpu} %{python} %S/../../../support/run_ranks.py 2 file:%t.ranks baton-run-module "--module=%samples/collectives/nccl.so?ranks=2&rank={rank}&id=%t.id" --module=%t.bvm --device=cuda://0 --function=sums --input=8xf32=1 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: ncclCommInitRank failed: invalid usage, Duplicate GPU detected : rank {{[01]}} and rank {{[01]}} both on CUDA device 0
// RUN: echo nothing > %t.id
// RUN: not %{fake_gpu} baton-run-module "--module=%samples/collectives/nccl.so?ranks=2&rank=1&id=%t.id" --module=%t.bvm --device=cuda://1 --function=sums --input=8xf32=1 2>&1 | FileCheck %s --check-prefix=NOID
// NOID: INVALID_ARGUMENT; '{{.*}}.id' holds no id of NCCL's.
// RUN: not %{fake_gpu} baton-run-module "--module=%samples/collectives/nccl.so?ranks=2&rank=1&id=%t.none&timeout=1" --module=%t.bvm --device=cuda://1 --function=sums --input=8xf32=1 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: DEADLINE_EXCEEDED; Rank 0 did not write '{{.*}}.none' within 1 s.
// RUN: not %{fake_gpu} env BATON_NCCL=/nowhere/libnccl.so.2 baton-run-module --module=%samples/collectives/nccl.so --module=%t.bvm --device=cuda --function=sums --input=8xf32=1 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: UNAVAILABLE; A library cannot be opened: /nowhere/libnccl.so.2
// RUN: not baton-run-module "--module=%samples/collectives/nccl.so?ranks=2&rank=2" --module=%t.bvm --device=local-sync --function=sums --input=8xf32=1 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: INVALID_ARGUMENT; There is no rank 2 of 2.
util.func private @nccl.sum_and_max(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {iree.abi.streamable}

util.func public @sums(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %sum, %most = util.call @nccl.sum_and_max(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  util.return %sum, %most : tensor<8xf32>, tensor<8xf32>
}

util.func public @rounds(%x: tensor<8xf32>, %count: i32) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rounds = arith.index_cast %count : i32 to index
  %last = scf.for %i = %zero to %rounds step %one iter_args(%each = %x) -> tensor<8xf32> {
    %sum, %most = util.call @nccl.sum_and_max(%each) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    scf.yield %sum : tensor<8xf32>
  }
  util.return %last : tensor<8xf32>
}
