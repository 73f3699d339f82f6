// Kernels for Vulkan: valid SPIR-V of 1.5, arguments by address, whole accesses, sums through shared memory, each capability
// only where a type wants it, nothing contracted or reordered that LLVM would not.
// RUN: rm -rf %t && mkdir %t
// RUN: baton-compile --target-device=vulkan %s -o %t/program.bvm
// RUN: baton-dump-module %t/program.bvm --extract=%t
// RUN: spirv-val --target-env vulkan1.2 %t/dispatch_groups.vulkan-spirv-fb.spv
// RUN: spirv-dis --no-color %t/dispatch_groups.vulkan-spirv-fb.spv -o %t/code.spvasm
// RUN: FileCheck --input-file=%t/code.spvasm %s
// RUN: FileCheck --input-file=%t/code.spvasm %s --check-prefix=SUM
// RUN: FileCheck --input-file=%t/code.spvasm %s --check-prefix=HALF
// RUN: spirv-val --target-env vulkan1.2 %t/dispatch_groups.vulkan-spirv-subgroup8.spv
// RUN: spirv-dis --no-color %t/dispatch_groups.vulkan-spirv-subgroup8.spv -o %t/subgroups.spvasm
// RUN: FileCheck --input-file=%t/subgroups.spvasm %s --check-prefix=SUBGROUPS
// RUN: baton-compile --target-device=local --target-device=cuda --target-device=vulkan %s -o %t/all.bvm
// RUN: baton-dump-module %t/all.bvm --section=executables | FileCheck %s --check-prefix=ALL
// RUN: not baton-run-module %t/program.bvm --device=local-sync --function=add --input=5xf32=1 --input=5xf32=1 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: vulkan-spirv-fb
// ALL: embedded-elf-{{x86_64|arm_64}}: {{[0-9]+}} bytes (elf)
// ALL: cuda-ptx-compute_75: {{[0-9]+}} bytes (ptx)
// ALL: vulkan-spirv-subgroup8: {{[0-9]+}} bytes (spv)
// ALL: vulkan-spirv-fb: {{[0-9]+}} bytes (spv)

// CHECK: ; Version: 1.5
// CHECK-DAG: OpCapability Shader
// CHECK-DAG: OpCapability Int64
// CHECK-DAG: OpCapability PhysicalStorageBufferAddresses
// CHECK-DAG: OpCapability VulkanMemoryModel
// CHECK-NOT: OpCapability Float64
// CHECK-NOT: OpCapability Int8
// CHECK-NOT: OpCapability Float16
// CHECK: OpMemoryModel PhysicalStorageBuffer64 Vulkan
// CHECK: OpEntryPoint GLCompute %{{.*}} "add_0_{{.*}}"
// CHECK: OpExecutionMode %{{.*}} LocalSize 256 1 1
// CHECK: OpDecorate %{{.*}} NoContraction
// The record of the dispatch, then four floats at a time.
// CHECK: OpLoad %ulong %{{.*}} Aligned 8
// CHECK: OpLoad %v4float %{{.*}} Aligned 16
// CHECK: OpStore %{{.*}} %{{.*}} Aligned 16
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}

// Where subgroups can, threads hand over sums among eight, then through shared memory; no kernel but the one that sums.
// SUBGROUPS-DAG: OpCapability GroupNonUniform{{$}}
// SUBGROUPS-DAG: OpCapability GroupNonUniformShuffle
// SUBGROUPS: OpEntryPoint GLCompute %{{.*}} "sum_1_{{.*}} %SubgroupSize %SubgroupId %SubgroupLocalInvocationId
// SUBGROUPS: OpEntryPoint GLCompute %{{.*}} "halves_2_{{[a-z]*}}" %{{.*}} %gl_LocalInvocationID{{$}}
// SUBGROUPS: OpModuleProcessed "baton.hands_over sum_1_
// SUBGROUPS: OpGroupNonUniformShuffleXor %float %uint_3 %{{.*}} %uint_4
// SUBGROUPS: OpGroupNonUniformShuffleXor %float %uint_3 %{{.*}} %uint_2
// SUBGROUPS: OpGroupNonUniformShuffleXor %float %uint_3 %{{.*}} %uint_1
// SUBGROUPS: OpControlBarrier
// SUBGROUPS: OpGroupNonUniformShuffleXor %float %uint_3 %{{.*}} %uint_4
// SUM-NOT: OpCapability GroupNonUniform
// SUM: OpTypePointer Workgroup
// SUM: OpControlBarrier
// SUM: OpLoopMerge
func.func @sum(%a: tensor<33x5003xf32>) -> tensor<33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<33x5003xf32>) outs(%f : tensor<33xf32>) dimensions = [1]
  return %r : tensor<33xf32>
}

// HALF: OpCapability StorageBuffer16BitAccess
// HALF: OpExtInst %v2float %{{.*}} UnpackHalf2x16
func.func @halves(%a: tensor<?xf16>) -> tensor<?xf16> {
  %r = arith.mulf %a, %a : tensor<?xf16>
  return %r : tensor<?xf16>
}
