/* y = x * factor + offset, one element a workgroup, as a portable ELF file. */
#include "hal/drivers/local/cpu_kernel.h"

BATON_KERNEL(affine, 2, 2) {
  const float* x = baton_binding(0);
  float* y = baton_binding(1);
  const uint32_t i = baton_workgroup_x();
  y[i] = x[i] * baton_constant_float(0) + baton_constant_float(1);
  return 0;
}

/* Does nothing, with workgroups of four elements. */
BATON_KERNEL_WITH(fours, 0, 0, 4, 0) { return 0; }

BATON_KERNELS("affine", affine, fours);
