// OperationLedger: what a queue remembers of its operations: how many are deferred, and the first failure that no
// semaphore could carry.
//
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>

#include "hal/drivers/common/wait_helper.hpp"

namespace baton::hal {

class OperationLedger {
 public:
  // A deferred operation enters when it is made and leaves when it is gone.
  void enter();
  void leave();
  uint64_t deferred_count() const { return deferred_count_.load(); }
  // Returns when no operation is deferred; DEADLINE_EXCEEDED when the time was up first. The thread lends `helper`, if
  // there is one, a hand before it sleeps.
  Status wait_until_empty(int64_t timeout_ns, WaitHelper* helper = nullptr);

  // Raises `signals`, or fails them with `result`. The ledger keeps a failure that has no signal.
  void conclude(std::span<const SemaphorePoint> signals, const Status& result) {
    if (!result.ok()) [[unlikely]]
      return fail(signals, result);
    for (const SemaphorePoint& signal : signals) {
      // A semaphore refuses a value when it has gone beyond it meanwhile; its waiters must not hang.
      if (const Status refused = signal.semaphore->signal(signal.value); !refused.ok()) [[unlikely]]
        signal.semaphore->fail(refused);
    }
  }

  // Keeps the first failure; ignores success.
  void keep_failure(const Status& status);
  // Returns the failure that was kept, and forgets it.
  Status take_failure();

 private:
  void fail(std::span<const SemaphorePoint> signals, const Status& result);

  std::mutex mutex_;
  std::condition_variable empty_;
  std::atomic<uint64_t> deferred_count_{0};  // Written under mutex_.
  Status failure_;                           // Guarded by mutex_.
};

}  // namespace baton::hal
