#include "bench/vm/native.h"

double float_loop(int32_t n) {
  double x = 1.0;
  for (int32_t i = 0; i < n; ++i) {
    x = x * 0.9999 + 0.25;
    BATON_BENCH_OPAQUE_F64(x);
  }
  return x;
}
