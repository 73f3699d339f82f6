#include "hal/drivers/common/operation_ledger.hpp"

#include <chrono>
#include <utility>

namespace baton::hal {

void OperationLedger::enter() {
  const std::lock_guard lock(mutex_);
  ++deferred_count_;
}

void OperationLedger::leave() {
  const std::lock_guard lock(mutex_);
  if (--deferred_count_ == 0) empty_.notify_all();
}

Status OperationLedger::wait_until_empty(int64_t timeout_ns, WaitHelper* helper) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  const auto is_empty = [&] { return deferred_count() == 0; };
  done_while_helping(is_empty, helper, {.left_ns = timeout_ns});
  std::unique_lock lock(mutex_);
  if (timeout_ns < 0) {
    empty_.wait(lock, is_empty);
  } else if (!empty_.wait_until(lock, deadline, is_empty)) {
    return failure(StatusCode::kDeadlineExceeded, "The queue was not idle within ", timeout_ns, " ns (",
                   deferred_count(), " operations in flight).");
  }
  return {};
}

void OperationLedger::fail(std::span<const SemaphorePoint> signals, const Status& result) {
  for (const SemaphorePoint& signal : signals) signal.semaphore->fail(result);
  if (signals.empty()) keep_failure(result);
}

void OperationLedger::keep_failure(const Status& status) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = status.clone();
}

Status OperationLedger::take_failure() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failure_, Status());
}

}  // namespace baton::hal
