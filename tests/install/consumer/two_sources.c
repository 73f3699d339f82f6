#include "two_sources.h"

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

float expf(float x);  // Of math.h, which comes with the kernels, too.

BATON_KERNEL(triple, 1, 0) {
  int32_t* numbers = baton_binding(0);
  volatile int32_t three = 3;
  volatile float zero = 0;
  struct table tables[2];
  tables[0] = made(&three);
  tables[1] = tables[*(volatile int32_t*)&three - 3];
  numbers[baton_workgroup_x()] *= tables[1].factors[99] * (int32_t)expf(zero);
  return 0;
}

BATON_KERNELS("two_sources", triple, negate);
