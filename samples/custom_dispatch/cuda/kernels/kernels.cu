// Whole kernels: a pointer for each binding, in order, then the constants as 32-bit words. The names are what the
// program exports.
#include "device.cuh"

// product = a * b
extern "C" __global__ void multiply(const float* __restrict a, const float* __restrict b, float* __restrict product,
                                    int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) product[i] = a[i] * b[i];
}

// data *= by
extern "C" __global__ void scale(const float* __restrict by, float* __restrict data, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= by[i];
}
