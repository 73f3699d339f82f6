// Kernels for GPUs before tensor cores or without code for theirs: the same programs, and nothing in them that such a GPU
// has not.
// RUN: baton-codegen --arch=sm_52 --emit=asm %S/cuda.mlir -o %t.52 && FileCheck %s --check-prefixes=OLDER,MAXWELL --input-file=%t.52 --implicit-check-not=wmma --implicit-check-not=mma.sync --implicit-check-not=ldmatrix --implicit-check-not=cp.async
// RUN: baton-codegen --arch=sm_60 --emit=asm %S/cuda.mlir | FileCheck %s --check-prefixes=OLDER,PASCAL --implicit-check-not=wmma --implicit-check-not=mma.sync --implicit-check-not=ldmatrix --implicit-check-not=cp.async
// RUN: baton-codegen --arch=sm_72 --emit=asm %S/cuda.mlir | FileCheck %s --check-prefixes=OLDER,VOLTA --implicit-check-not=wmma --implicit-check-not=mma.sync --implicit-check-not=ldmatrix --implicit-check-not=cp.async
// RUN: not baton-codegen --arch=sm_50 --emit=asm %S/cuda.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: There is no CUDA architecture 'sm_50' to generate code for; there are: sm_75, {{.*}}, sm_90a. Without code for tensor cores: sm_52, sm_53, sm_60, sm_61, sm_62, sm_70, sm_72.

// MAXWELL: .version 6.0
// MAXWELL: .target sm_52
// PASCAL: .version 6.0
// PASCAL: .target sm_60
// VOLTA: .version 6.1
// VOLTA: .target sm_72
// OLDER: .visible .entry add(
// On newer GPUs this product is one of tensor cores.
// OLDER: .visible .entry halves_product(
// OLDER: fma.rn.f32
