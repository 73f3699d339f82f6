// The suite's kernels (kernels.h) for CUDA.
#include <cstdint>

extern "C" __global__ void add(const uint32_t* a, const uint32_t* b, uint32_t* target, uint32_t n) {
  const uint32_t i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) target[i] = a[i] + b[i];
}

extern "C" __global__ void scale(uint32_t* values, uint32_t n, uint32_t factor) {
  const uint32_t i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) values[i] *= factor;
}

extern "C" __global__ void write_ids(uint32_t* target) {
  const uint32_t row = blockIdx.z * gridDim.y + blockIdx.y;
  target[row * gridDim.x + blockIdx.x] = blockIdx.x + 100 * blockIdx.y + 10000 * blockIdx.z;
}

extern "C" __global__ void local_sum(const uint32_t* source, uint32_t* target) {
  __shared__ uint32_t scratch[16];
  scratch[threadIdx.x] = source[blockIdx.x * 16 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 16; ++i) sum += scratch[i];
  target[blockIdx.x] = sum;
}

extern "C" __global__ void fail(uint32_t* any) {
  if (blockIdx.x == 0xffffffff) any[0] = 7;
}
