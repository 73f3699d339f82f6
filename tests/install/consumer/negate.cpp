// The second source, in C++.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "two_sources.h"

BATON_DEFINE_KERNEL(negate) {
  std::int32_t factor = 0;
  const auto one = static_cast<std::int32_t>(std::round(std::fmax(1.0f, std::abs(-0.5f))) * std::pow(1.0, 2.0));
  std::memcpy(&factor, &one, sizeof(one));
  static_cast<std::int32_t*>(baton_binding(0))[baton_workgroup_x()] *= std::isnan(0.0f) ? 0 : -factor;
  return 0;
}
