// The few names of CUDA that these kernels use, for a compiler without the CUDA toolkit; nvcc brings its own.
#pragma once

#ifndef __CUDACC__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

typedef __SIZE_TYPE__ size_t;

struct thread_number {
  __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_tid_x(); }
};
struct block_number {
  __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_ctaid_x(); }
};
struct block_size {
  __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_ntid_x(); }
};
static const __device__ struct {
  thread_number x;
} threadIdx = {};
static const __device__ struct {
  block_number x;
} blockIdx = {};
static const __device__ struct {
  block_size x;
} blockDim = {};
#endif
