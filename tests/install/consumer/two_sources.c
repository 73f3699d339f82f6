#include "two_sources.h"

#if !defined(CONSUMER_FLAG) || (defined(__x86_64__) && !defined(__SSE4_1__))
#error "The flags of the library and of its architecture are missing."
#endif

BATON_KERNEL(triple, 1, 0) {
  int32_t* numbers = baton_binding(0);
  numbers[baton_workgroup_x()] *= 3;
  return 0;
}

BATON_KERNELS("two_sources", triple, negate);
