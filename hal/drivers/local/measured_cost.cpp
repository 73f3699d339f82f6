#include "hal/drivers/local/measured_cost.hpp"

#include <algorithm>

namespace baton::hal::drivers::local {
namespace {

constexpr double kLeastNs = 0.25;  // 0 means that nothing is known.

}  // namespace

void MeasuredCost::add(int64_t spent_ns, uint64_t count) {
  const double before = ns();
  const double sample = std::max(static_cast<double>(spent_ns) / static_cast<double>(count), kLeastNs);
  if (before == 0) return ns_.store(sample, std::memory_order_relaxed);
  const double step = sample < before ? (sample - before) / 2 : (std::min(sample, 64 * before + 10'000) - before) / 4;
  // Kernels are shared by many threads: one that takes as long as ever costs them nothing.
  if (step * 16 > before || -step * 16 > before) ns_.store(before + step, std::memory_order_relaxed);
}

}  // namespace baton::hal::drivers::local
