/* A kernel in C: each workgroup triples one number. */
#include "hal/drivers/local/cpu_kernel.h"

BATON_KERNEL(triple, 1, 0) {
  int32_t* numbers = baton_binding(0);
  numbers[baton_workgroup_x()] *= 3;
  return 0;
}

BATON_KERNELS("triple", triple);
