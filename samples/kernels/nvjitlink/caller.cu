// Calls a function that another file defines.
extern "C" __device__ float function(float x);

extern "C" __global__ void apply(float* x, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = function(x[i]);
}
