// KeptSignals: what an operation signals, kept until it does.
//
// Threads: immutable.
#pragma once

#include <span>
#include <vector>

#include "hal/semaphore.hpp"

namespace baton::hal {

class KeptSignals {
 public:
  KeptSignals() = default;
  explicit KeptSignals(std::span<const SemaphorePoint> points) : points_(points.begin(), points.end()) {
    semaphores_.reserve(points.size());
    for (const SemaphorePoint& point : points) semaphores_.emplace_back(point.semaphore);
  }

  std::span<const SemaphorePoint> points() const { return points_; }

 private:
  std::vector<SemaphorePoint> points_;
  std::vector<Ref<Semaphore>> semaphores_;
};

}  // namespace baton::hal
