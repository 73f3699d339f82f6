// MeasuredCost: what something takes, as far as it was measured: a tile of a kernel, the wake of a worker. Decisions
// whether calling others in pays are made by it.
//
// A thread that lost its processor in the middle looks like a slow tile, and the first run of a kernel like a slow
// kernel: so the estimate rises with care and falls quickly.
// Threads: internally synchronized; of two samples at the same time one may be lost.
#pragma once

#include <atomic>
#include <cstdint>

namespace baton::hal::drivers::local {

class MeasuredCost {
 public:
  // Known from the start, until it is known better.
  explicit MeasuredCost(double assumed_ns = 0) : ns_(assumed_ns) {}

  bool known() const { return ns() != 0; }
  // 0 while nothing is known.
  double ns() const { return ns_.load(std::memory_order_relaxed); }

  // `count` of them took `spent_ns` together.
  void add(int64_t spent_ns, uint64_t count = 1);

 private:
  std::atomic<double> ns_;
};

}  // namespace baton::hal::drivers::local
