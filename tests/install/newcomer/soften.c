/* y[i] = strength * x[i] + (1 - strength) * mean of x[i] and its neighbours. */
#include "hal/drivers/local/cpu_kernel.h"

BATON_KERNEL(soften, 2, 2) {
  const float strength = baton_constant_float(0);
  const uint64_t count = baton_constant(1);
  const float* x = baton_binding(0);
  float* y = baton_binding(1);
  for (uint64_t i = baton_begin(16); i < baton_end(16, count); ++i) {
    const float before = x[i == 0 ? i : i - 1], after = x[i + 1 == count ? i : i + 1];
    y[i] = strength * x[i] + (1 - strength) * (before + x[i] + after) / 3;
  }
  return 0;
}

BATON_KERNELS("filters", soften);
