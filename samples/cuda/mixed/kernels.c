/* The same kernel for processors: 64 elements a workgroup. */
#include "hal/drivers/local/cpu_kernel.h"

BATON_KERNEL_WITH(keep_real, 1, 1, 64, 0) {
  float* data = baton_binding(0);
  for (uint64_t i = baton_begin(64); i < baton_end(64, baton_constant(0)); ++i) {
    if (i % 2) data[i] = 0;
  }
  return 0;
}

BATON_KERNELS("mixed_kernels", keep_real);
