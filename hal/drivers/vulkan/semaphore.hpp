// Semaphore: a timeline semaphore whose value the host keeps, and which knows what the device was promised.
//
// A value that a submission of the device's timeline will bring is promised: work that waits for it can be submitted
// at once, because submissions run in order. Failures are the host's to carry, which no semaphore of Vulkan could.
// Threads: as hal::Semaphore.
#pragma once

#include <vector>

#include "hal/drivers/common/host_semaphore.hpp"
#include "hal/drivers/vulkan/timeline.hpp"

namespace baton::hal::drivers::vulkan {

class Semaphore final : public hal::Semaphore {
 public:
  Semaphore(Ref<Timeline> timeline, uint64_t initial_value)
      : timeline_(std::move(timeline)), host_(initial_value, timeline_) {}

  Result<uint64_t> query() override { return host_.query(); }
  bool reached(uint64_t value) override { return host_.reached(value); }
  Status signal(uint64_t value) override { return host_.signal(value); }
  void fail(const Status& status) override { host_.fail(status); }
  Status wait(uint64_t value, int64_t timeout_ns) override { return host_.wait(value, timeout_ns); }
  void notify(uint64_t value, SemaphoreWaiter& waiter) override {
    host_.notify(value, waiter);
    timeline_->wake();
  }

  const Timeline& timeline() const { return *timeline_; }
  // Submission `serial`, when it is through, signals `value`.
  void promise(uint64_t value, uint64_t serial);
  // The submission that brings `value`; 0 when none is known.
  uint64_t promised(uint64_t value);

 private:
  struct Promise {
    uint64_t value;
    uint64_t serial;
  };

  const Ref<Timeline> timeline_;
  HostSemaphore host_;
  std::mutex mutex_;
  std::vector<Promise> promises_;  // Guarded by mutex_.
};

}  // namespace baton::hal::drivers::vulkan
