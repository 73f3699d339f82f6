/* The dispatch part: y = alpha * x + y, 64 elements a workgroup. Freestanding: no libc, nothing static that is written. */
#include "hal/drivers/local/cpu_kernel.h"

BATON_KERNEL_WITH(saxpy, 2, 2, 64, 0) {
  const float alpha = baton_constant_float(1);
  const float* x = baton_binding(0);
  float* y = baton_binding(1);
  for (uint64_t i = baton_begin(64); i < baton_end(64, baton_constant(0)); ++i) y[i] = alpha * x[i] + y[i];
  return 0;
}

BATON_KERNELS("blas_kernels", saxpy);
