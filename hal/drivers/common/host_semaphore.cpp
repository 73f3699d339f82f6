#include "hal/drivers/common/host_semaphore.hpp"

#include <chrono>
#include <utility>

namespace baton::hal {
namespace {

using Clock = std::chrono::steady_clock;

void call_all(SemaphoreWaiter* first, SemaphoreWaiter* SemaphoreWaiter::*next, const Status& status) {
  while (first) std::exchange(first, first->*next)->reached(status);
}

}  // namespace

HostSemaphore::~HostSemaphore() {
  if (waiters_) fail(failure(StatusCode::kAborted, "The semaphore went away before it reached what was waited for."));
}

Result<uint64_t> HostSemaphore::query() {
  const uint64_t now = value_.load(std::memory_order_acquire);
  if (now == kFailed) return failure_.clone();
  return now;
}

Status HostSemaphore::outcome() {
  return value_.load(std::memory_order_acquire) == kFailed ? failure_.clone() : Status();
}

Status HostSemaphore::signal(uint64_t value) {
  uint64_t now = value_.load(std::memory_order_relaxed);
  do {
    if (now == kFailed) return failure_.clone();
    if (value <= now || value > kValueMax) [[unlikely]] {
      return failure(StatusCode::kInvalidArgument, "Semaphore signal to ", value, " is not above its value (", now,
                     ").");
    }
  } while (!value_.compare_exchange_weak(now, value, std::memory_order_seq_cst));
  if (sleepers_.load(std::memory_order_seq_cst) != 0) wake_waiters();
  return {};
}

void HostSemaphore::fail(const Status& status) {
  {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return;
    failure_ = status.clone();
    value_.store(kFailed, std::memory_order_seq_cst);
  }
  wake_waiters();
}

void HostSemaphore::wake_waiters() {
  SemaphoreWaiter* ready;
  {
    std::lock_guard lock(mutex_);
    ready = take_reached_waiters(value_.load(std::memory_order_seq_cst));
    // Under the lock: the semaphore may be gone as soon as a waiting thread has left wait().
    changed_.notify_all();
  }
  if (ready) call_all(ready, &SemaphoreWaiter::next_, outcome());
}

// Unlinks the waiters that `value` satisfies, oldest first. The lock is held.
SemaphoreWaiter* HostSemaphore::take_reached_waiters(uint64_t value) {
  SemaphoreWaiter* taken = nullptr;
  SemaphoreWaiter** taken_end = &taken;
  for (SemaphoreWaiter** link = &waiters_; *link;) {
    SemaphoreWaiter* waiter = *link;
    if (waiter->value_ > value) {
      link = &waiter->next_;
      continue;
    }
    *link = std::exchange(waiter->next_, nullptr);
    *std::exchange(taken_end, &waiter->next_) = waiter;
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  return taken;
}

Status HostSemaphore::wait(uint64_t value, int64_t timeout_ns) {
  const auto is_done = [&] { return done(value); };
  if (is_done()) return outcome();
  const auto deadline = Clock::now() + std::chrono::nanoseconds(timeout_ns);
  if (done_while_helping(is_done, helper_.get(), {this, value, timeout_ns})) return outcome();
  std::unique_lock lock(mutex_);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  bool in_time = true;
  if (timeout_ns < 0) {
    changed_.wait(lock, is_done);
  } else {
    in_time = changed_.wait_until(lock, deadline, is_done);
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  if (in_time) return outcome();
  return failure(StatusCode::kDeadlineExceeded, "Semaphore did not reach ", value, " within ", timeout_ns,
                 " ns (value ", value_.load(), ").");
}

void HostSemaphore::notify(uint64_t value, SemaphoreWaiter& waiter) {
  {
    std::lock_guard lock(mutex_);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (!done(value)) {
      waiter.value_ = value;
      waiter.next_ = nullptr;
      SemaphoreWaiter** end = &waiters_;
      while (*end) end = &(*end)->next_;
      *end = &waiter;
      return;
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  waiter.reached(outcome());
}

}  // namespace baton::hal
