// A function may say which other one cores run in its place: a running sum in one pass, whose loop goes in order, for rounds
// of joins. Blocks of threads, and programs for both, keep the rounds.
// RUN: baton-compile --compile-to=global-optimization %s | FileCheck %s --check-prefix=CORES
// RUN: baton-compile --compile-to=global-optimization --target-backends=cuda %s | FileCheck %s --check-prefix=BLOCKS
// RUN: baton-compile --compile-to=global-optimization --target-backends=llvm-cpu --target-backends=cuda %s | FileCheck %s --check-prefix=BLOCKS
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=sums --input=2x4xf32=1,2,3,4,5,6,7,8 | FileCheck %s --check-prefix=SUMS
// RUN: sed -e 's/= @one_pass/= @missing/' %s > %t.mlir
// RUN: not baton-compile %t.mlir -o %t.bvm 2>&1 | FileCheck %s --check-prefix=MISSING

// CORES: iterator_types = ["parallel", "reduction"]
// CORES-NOT: tensor.pad
// BLOCKS: tensor.pad
// BLOCKS-NOT: reduction
// SUMS: 2x4xf32=[1 3 6 10][5 11 18 26]
// MISSING: has baton.on_cores = @missing, which is no function of its type
func.func @sums(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %sums = call @rounds(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %sums : tensor<2x4xf32>
}

func.func private @rounds(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {baton.on_cores = @one_pass} {
  %one = call @join_one(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %two = call @join_two(%one) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %two : tensor<2x4xf32>
}
func.func private @join_one(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : tensor<2x4xf32> to tensor<2x3xf32>
  %moved = tensor.pad %part low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x3xf32> to tensor<2x4xf32>
  %sum = arith.addf %x, %moved : tensor<2x4xf32>
  return %sum : tensor<2x4xf32>
}
func.func private @join_two(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %x[0, 0] [2, 2] [1, 1] : tensor<2x4xf32> to tensor<2x2xf32>
  %moved = tensor.pad %part low[0, 2] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x2xf32> to tensor<2x4xf32>
  %sum = arith.addf %x, %moved : tensor<2x4xf32>
  return %sum : tensor<2x4xf32>
}

func.func private @one_pass(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %memory = tensor.empty() : tensor<2xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%memory : tensor<2xf32>) -> tensor<2xf32>
  %places = tensor.empty() : tensor<2x4xf32>
  %run:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x4xf32>) outs(%begin, %places : tensor<2xf32>, tensor<2x4xf32>) {
  ^bb0(%a: f32, %carried: f32, %old: f32):
    %next = arith.addf %carried, %a : f32
    linalg.yield %next, %next : f32, f32
  } -> (tensor<2xf32>, tensor<2x4xf32>)
  return %run#1 : tensor<2x4xf32>
}
