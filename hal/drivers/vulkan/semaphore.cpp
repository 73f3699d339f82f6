#include "hal/drivers/vulkan/semaphore.hpp"

namespace baton::hal::drivers::vulkan {

void Semaphore::promise(uint64_t value, uint64_t serial) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(promises_, [&](const Promise& one) { return host_.reached(one.value); });
    promises_.push_back({value, serial});
  }
  if (host_.has_sleepers()) timeline_->wake();
}

uint64_t Semaphore::promised(uint64_t value) {
  const std::lock_guard lock(mutex_);
  uint64_t serial = 0;
  for (const Promise& one : promises_) {
    if (one.value >= value && (serial == 0 || one.serial < serial)) serial = one.serial;
  }
  return serial;
}

}  // namespace baton::hal::drivers::vulkan
