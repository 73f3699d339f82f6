// The second source, in C++.
#include "two_sources.h"

BATON_DEFINE_KERNEL(negate) {
  auto* const numbers = static_cast<int32_t*>(baton_binding(0));
  numbers[baton_workgroup_x()] *= -1;
  return 0;
}
