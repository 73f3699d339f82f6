#include "bench/vm/native.h"

#include <stdlib.h>

static int32_t* data;

void blob_reduction_prepare(int32_t n) {
  data = malloc((size_t)n * sizeof *data);
  for (int32_t i = 0; i < n; ++i) data[i] = i * 3;
}

// The barrier keeps the compiler from summing several elements at once: one load, one addition each.
int32_t blob_reduction(int32_t n) {
  int32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) {
    sum += data[i];
    BATON_BENCH_OPAQUE(sum);
  }
  return sum;
}
