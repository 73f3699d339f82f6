// The same for a GPU: a pointer for each binding, then the constants; 64 elements a workgroup. Clang makes PTX of it
// without the CUDA toolkit, and this is all of CUDA that it uses; nvcc brings its own.
#ifndef __CUDACC__
#define __global__ __attribute__((global))
#define BATON_ELEMENT (__nvvm_read_ptx_sreg_ctaid_x() * 64 + __nvvm_read_ptx_sreg_tid_x())
#else
#define BATON_ELEMENT (blockIdx.x * 64 + threadIdx.x)
#endif

extern "C" __global__ void saxpy(const float* x, float* y, unsigned count, float alpha) {
  const unsigned i = BATON_ELEMENT;
  if (i < count) y[i] = alpha * x[i] + y[i];
}
