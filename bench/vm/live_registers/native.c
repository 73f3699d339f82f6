#include "bench/vm/native.h"

// The barrier keeps a value alive across the call below: the compiler cannot make it again from `seed`.
#define KEEP(name, offset)      \
  int32_t name = seed + offset; \
  BATON_BENCH_OPAQUE(name)

BATON_BENCH_NOINLINE static int32_t wide(int32_t depth, int32_t seed) {
  KEEP(v0, 0);
  KEEP(v1, 1);
  KEEP(v2, 2);
  KEEP(v3, 3);
  KEEP(v4, 4);
  KEEP(v5, 5);
  KEEP(v6, 6);
  KEEP(v7, 7);
  KEEP(v8, 8);
  KEEP(v9, 9);
  KEEP(v10, 10);
  KEEP(v11, 11);
  KEEP(v12, 12);
  KEEP(v13, 13);
  KEEP(v14, 14);
  KEEP(v15, 15);
  KEEP(v16, 16);
  KEEP(v17, 17);
  KEEP(v18, 18);
  KEEP(v19, 19);
  int32_t inner = 0;
  if (depth > 0) inner = wide(depth - 1, seed + 1);
  return inner + v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 +  //
         v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19;
}

int32_t live_registers(int32_t n) {
  int32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) {
    sum += wide(8, i);
    BATON_BENCH_OPAQUE(sum);
  }
  return sum;
}
