#include "bench/vm/native.h"

int32_t native_import(int32_t n) {
  int32_t (*volatile import)(int32_t, int32_t) = bench_mix;
  int32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) sum = import(sum, i);
  return sum;
}
