// CUDA's own words for sources that clang compiles without the toolkit's headers (embed_kernels.cmake includes this in
// front of them): what a plain kernel needs, and nothing of the library.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
};
#include <__clang_cuda_builtin_vars.h>
