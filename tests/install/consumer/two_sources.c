#include "two_sources.h"

#include <math.h>
#include <string.h>

#if !defined(CONSUMER_FLAG) || (defined(__x86_64__) && !defined(__SSE4_1__))
#error "The flags of the library and of its architecture are missing."
#endif

// Compilers fill and copy structs by functions of a C library, which come with the kernels.
struct table {
  int32_t factors[100];
};
static struct table made(volatile int32_t* factor) {
  struct table table = {{0}};
  table.factors[99] = *factor;
  return table;
}

// All that the kernels' math.h declares is there.
#define ONE(name) +name(zero) + name##f(zero)
#define TWO(name) +name(zero, zero) + name##f(zero, zero)
static double all(volatile float* given) {
  const float zero = *given;
  float sine[2];
  double cosine[2];
  sincosf(zero, sine, sine + 1);
  sincos((double)zero, cosine, cosine + 1);
  return fmaf(zero, zero, zero) + fma(zero, zero, zero) + sine[0] +
         cosine[0] BATON_MATH_OF_ONE_(ONE) BATON_MATH_OF_TWO_(TWO);
}

BATON_KERNEL(triple, 1, 0) {
  int32_t* numbers = baton_binding(0);
  volatile int32_t three = 3;
  volatile float zero = 0;
  struct table tables[2];
  tables[0] = made(&three);
  tables[1] = tables[*(volatile int32_t*)&three - 3];
  memmove(tables, tables + 1, sizeof(struct table));
  numbers[baton_workgroup_x()] *= tables[0].factors[99] * (int32_t)expf(isnan(all(&zero)) ? zero : zero);
  return 0;
}

BATON_KERNELS("two_sources", triple, negate);
