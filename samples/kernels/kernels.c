/* y = factor * x + y, for the CPU: each workgroup does 4 elements. */
#include "hal/drivers/local/cpu_kernel.h"

BATON_KERNEL_WITH(scale_add, 2, 2, 4, 0) {
  const float* x = baton_binding(0);
  float* y = baton_binding(1);
  const float factor = baton_constant_float(0);
  for (uint64_t i = baton_begin(4); i < baton_end(4, baton_constant(1)); ++i) y[i] += factor * x[i];
  return 0;
}

BATON_KERNELS("kernels", scale_add);
