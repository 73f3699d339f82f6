// Semaphore: a number that only rises, or a failure that everyone who waits receives (a timeline semaphore).
//
// Queue operations wait for points of semaphores and signal points of semaphores; so do the host, fences and modules.
// Threads: internally synchronized.
#pragma once

#include <cstdint>
#include <span>

#include "base/ref.hpp"
#include "base/result.hpp"

namespace baton::hal {

inline constexpr int64_t kWaitForever = -1;

// Someone to call when a semaphore reaches a value. The caller provides the storage and keeps it until `reached` was
// called, which happens exactly once, from any thread (one that waits for something may be put to work meanwhile),
// without locks of ours held. The function may submit work, but should not block.
class SemaphoreWaiter {
 public:
  virtual ~SemaphoreWaiter() = default;
  // `status` is the semaphore's failure, or ok when the value was reached. May free the waiter.
  virtual void reached(const Status& status) = 0;

 private:
  friend class HostSemaphore;
  uint64_t value_ = 0;
  SemaphoreWaiter* next_ = nullptr;
};

class Semaphore : public RefCounted<Semaphore> {
 public:
  virtual ~Semaphore() = default;

  // The value now, or the failure.
  virtual Result<uint64_t> query() = 0;
  // Whether `value` is reached; false also when failed. Costs one load on hosts.
  virtual bool reached(uint64_t value) = 0;
  // `value` must be above the current one.
  virtual Status signal(uint64_t value) = 0;
  // The first failure counts; later ones and later signals change nothing.
  virtual void fail(const Status& status) = 0;
  // Returns ok once reached, the failure, or DEADLINE_EXCEEDED. A timeout of 0 only looks.
  virtual Status wait(uint64_t value, int64_t timeout_ns = kWaitForever) = 0;
  // Calls `waiter` as soon as `value` is reached or never can be: at once, from within, when that is now.
  virtual void notify(uint64_t value, SemaphoreWaiter& waiter) = 0;
};

struct SemaphorePoint {
  Semaphore* semaphore = nullptr;  // Borrowed.
  uint64_t value = 0;

  SemaphorePoint() = default;
  SemaphorePoint(Semaphore& of, uint64_t at) : semaphore(&of), value(at) {}
  SemaphorePoint(const Ref<Semaphore>& of, uint64_t at) : semaphore(of.get()), value(at) {}
};

}  // namespace baton::hal
