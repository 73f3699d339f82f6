#include "modules/hal_module/objects.hpp"

namespace baton::modules {

int32_t outcome_of(std::span<const hal::SemaphorePoint> points) {
  bool reached = true;
  for (const hal::SemaphorePoint& point : points) {
    if (point.semaphore->reached(point.value)) continue;
    const auto value = point.semaphore->query();
    if (!value) return static_cast<int32_t>(value.error().code());
    reached &= *value >= point.value;  // It may have got there in between.
  }
  return reached ? BATON_OK : -1;
}

int32_t wait_for(const hal::Fence& fence, int64_t timeout_ns) {
  if (timeout_ns != 0) static_cast<void>(fence.wait(timeout_ns));  // What came of it stands in the semaphores.
  return outcome_of(fence.points());
}

}  // namespace baton::modules
