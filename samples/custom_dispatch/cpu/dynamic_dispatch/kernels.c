/* What the host has ready under a name of its own: a finished library of kernels. A program asks for it when it is
 * loaded. Freestanding, so that Baton's own loader takes it. */
#include "hal/drivers/local/cpu_kernel.h"

/* product = a * b; the constant is how many elements there are, 64 of them to a workgroup. */
BATON_KERNEL_WITH(multiply, 3, 1, 64, 0) {
  const float *a = baton_binding(0), *b = baton_binding(1);
  float* product = baton_binding(2);
  for (uint64_t i = baton_begin(64); i < baton_end(64, baton_constant(0)); ++i) product[i] = a[i] * b[i];
  return 0;
}

BATON_KERNELS("acme", multiply);
