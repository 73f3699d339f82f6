#include "bench/vm/native.h"

// The barrier keeps the compiler from unrolling the recursion into a loop: every step is a call.
BATON_BENCH_NOINLINE int32_t internal_call(int32_t n) {
  if (n < 2) return n;
  int32_t first = internal_call(n - 1);
  BATON_BENCH_OPAQUE(first);
  int32_t second = internal_call(n - 2);
  BATON_BENCH_OPAQUE(second);
  return first + second;
}
