/* A library of kernels in two sources: this declares what the second one defines. */
#include "hal/drivers/local/cpu_kernel.h"

BATON_DECLARE_KERNEL(negate, 1, 0);
