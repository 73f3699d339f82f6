#include "bench/vm/native.h"

int32_t counted_loop(int32_t n) {
  for (int32_t i = 0; i < n; ++i) __asm__ volatile("");
  return n;
}
