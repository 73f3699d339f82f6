// A function may name others that do the same for cores, for blocks of threads, and for blocks that have atomic operations; a program for
// several kinds of workgroups keeps what all of them can. Who is left without a caller is gone, and what that one called.
// RUN: baton-compile --compile-to=input %s | FileCheck %s --check-prefixes=ALL,CORES
// RUN: baton-compile --compile-to=input --target-device=cuda %s | FileCheck %s --check-prefixes=ALL,ATOMICS
// RUN: baton-compile --compile-to=input --target-device=vulkan %s | FileCheck %s --check-prefixes=ALL,BLOCKS
// RUN: baton-compile --compile-to=input --target-device=cuda --target-device=vulkan %s | FileCheck %s --check-prefixes=ALL,BLOCKS
// RUN: baton-compile --compile-to=input --target-device=local --target-device=cuda %s | FileCheck %s --check-prefixes=ALL,ANYBODY
// RUN: sed -e 's/= @for_atomics/= @for_two/' %s > %t.mlir
// RUN: not baton-compile --target-device=cuda %t.mlir -o %t.bvm 2>&1 | FileCheck %s --check-prefix=TYPE

// ALL-LABEL: util.func public @main
// CORES: util.call @for_cores
// ATOMICS: util.call @for_atomics
// BLOCKS: util.call @for_blocks
// ANYBODY: util.call @for_anybody
// CORES-NOT: util.func private @for_{{anybody|blocks|atomics}}
// ATOMICS-NOT: util.func private @for_{{anybody|cores|blocks}}
// BLOCKS-NOT: util.func private @for_{{anybody|cores|atomics}}
// ANYBODY-NOT: util.func private @for_{{cores|blocks|atomics}}
// ALL-NOT: baton.
// CORES-NOT: @helper
// TYPE: has baton.with_atomics = @for_two, which is no function of its type
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @for_anybody(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @for_anybody(%x: tensor<4xf32>) -> tensor<4xf32> attributes {baton.on_cores = @for_cores, baton.on_blocks = @for_blocks, baton.with_atomics = @for_atomics} {
  %y = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @for_cores(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @for_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @for_atomics(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @for_two(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
