// A function for kernels that the compiler generates: every thread of the block calls it, and takes its own elements.
#include "device.cuh"

extern "C" __device__ void multiply_slice(const float* __restrict a, size_t a_offset, const float* __restrict b,
                                          size_t b_offset, float* __restrict product, size_t product_offset,
                                          size_t size) {
  for (size_t i = threadIdx.x; i < size; i += blockDim.x) {
    product[product_offset + i] = a[a_offset + i] * b[b_offset + i];
  }
}
