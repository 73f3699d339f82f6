// HostSemaphore: a timeline semaphore in host memory, for every driver whose queue runs on the host.
//
// Reaching a value without waiters is one compare-exchange; the lock is taken only when there are waiters.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "hal/drivers/common/wait_helper.hpp"
#include "hal/semaphore.hpp"

namespace baton::hal {

class HostSemaphore final : public Semaphore {
 public:
  explicit HostSemaphore(uint64_t initial_value, Ref<WaitHelper> helper = nullptr)
      : value_(initial_value), helper_(std::move(helper)) {}
  // Fails the waiters that are left: nothing can signal it any more.
  ~HostSemaphore() override;

  Result<uint64_t> query() override;
  bool reached(uint64_t value) override {
    const uint64_t now = value_.load(std::memory_order_acquire);
    return now >= value && now != kFailed;
  }
  Status signal(uint64_t value) override;
  void fail(const Status& status) override;
  Status wait(uint64_t value, int64_t timeout_ns) override;
  void notify(uint64_t value, SemaphoreWaiter& waiter) override;

  // Whether a thread sleeps until a value is reached, or a waiter is to be called. A thread that begins to
  // sleep meanwhile may be missed.
  bool has_sleepers() const { return sleepers_.load(std::memory_order_seq_cst) != 0; }

  // The largest value that can be signalled.
  static constexpr uint64_t kValueMax = ~uint64_t{0} - 1;

 private:
  static constexpr uint64_t kFailed = ~uint64_t{0};

  bool done(uint64_t value) const { return value_.load(std::memory_order_seq_cst) >= value; }
  Status outcome();
  void wake_waiters();
  SemaphoreWaiter* take_reached_waiters(uint64_t value);

  // Writers: compare-exchange upwards; kFailed is the top and stays.
  std::atomic<uint64_t> value_;
  // Threads and waiters that need a wake. Raised before they look at value_ a last time, read after value_ is written:
  // both sequentially consistent, so that one of the two always sees the other.
  std::atomic<uint32_t> sleepers_{0};

  const Ref<WaitHelper> helper_;
  std::mutex mutex_;
  std::condition_variable changed_;
  SemaphoreWaiter* waiters_ = nullptr;  // Guarded by mutex_.
  Status failure_;                      // Written once, before value_ becomes kFailed.
};

}  // namespace baton::hal
