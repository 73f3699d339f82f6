#include "base/work_limits.hpp"

#include <ctime>

namespace baton {

int64_t monotonic_clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

StatusCode WorkLimits::look() const {
  if (is_cancelled()) return StatusCode::kCancelled;
  if (deadline_ns != 0 && monotonic_clock_ns() >= deadline_ns) return StatusCode::kDeadlineExceeded;
  return StatusCode::kOk;
}

}  // namespace baton
