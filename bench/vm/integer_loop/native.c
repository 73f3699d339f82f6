#include "bench/vm/native.h"

int32_t integer_loop(int32_t n) {
  int32_t i = 0;
  while (i < n) {
    i = i + 1;
    BATON_BENCH_OPAQUE(i);
  }
  return i;
}
