extern "C" __global__ void sharpen(float* x, float by, int n) {
  __shared__ float factor;
  if (threadIdx.x == 0) factor = 1 + by;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
