#include "hal/drivers/cuda/nccl_watch.hpp"

#include "hal/drivers/cuda/context_scope.hpp"
#include "hal/drivers/cuda/nccl_making.hpp"

namespace baton::hal::drivers::cuda {
void NcclWatch::begin(Ref<Mark> mark) {
  std::lock_guard lock(mutex_);
  if (!current_) {
    since_ = Clock::now();
    current_ = mark;
  }
  std::swap(last_, mark);  // The one before goes without the lock.
}

Status NcclWatch::check() {
  std::lock_guard lock(mutex_);
  return check_locked();
}

Status NcclWatch::check_locked() {
  if (!failure_.ok() || is_closed_) return failure_.clone();
  int failed = 0;
  const int asked = nccl_->ncclCommGetAsyncError(comm_, &failed);
  if (asked == 0 && (failed == 0 || failed == kNcclInProgress)) return {};
  end(nccl_->status_of(asked != 0 ? asked : failed, "A collective", comm_).with_context(description_));
  return failure_.clone();
}

void NcclWatch::look() {
  Ref<Mark> done;  // Goes without the lock.
  std::lock_guard lock(mutex_);
  if (!current_ || is_closed_) return;
  if (current_->done()) {
    done = std::exchange(current_, last_->done() ? nullptr : last_);
    since_ = Clock::now();
    return;
  }
  // Many executions may be ahead of it: the time is that of one.
  const uint64_t completed = current_->stream().completed();
  if (std::exchange(completed_, completed) != completed) since_ = Clock::now();
  const uint32_t executions = current_->meetings();
  if (!check_locked().ok() || Clock::now() - since_ < timeout_ * executions) return;
  end(too_late(executions));
}

Status NcclWatch::give_up() {
  std::lock_guard lock(mutex_);
  if (failure_.ok()) end(too_late(1));
  return failure_.clone();
}

Status NcclWatch::too_late(uint32_t executions) const {
  const int64_t milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(timeout_ * executions).count();
  return failure(StatusCode::kDeadlineExceeded, "Work with collectives is under way for ", milliseconds,
                 " ms: another rank is gone, or late, or has other collectives.")
      .with_context(description_);
}

// The order matters: who sees the device go on sees why.
void NcclWatch::end(Status reason) {
  failure_ = std::move(reason);
  has_ended_.store(true, std::memory_order_release);
  if (peers_) peers_->end();
  abort_ = std::thread([this] {
    const ContextScope scope(context_->symbols(), context_->handle());
    nccl_->ncclCommAbort(comm_);
  });
}

// Recordings that use it are gone: nothing of it runs. A destroy would wait for ranks that may be dead.
void NcclWatch::close() {
  std::thread aborting;
  Ref<Mark> current, last;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_closed_, true)) return;
    aborting = std::move(abort_);
    std::swap(current, current_);
    std::swap(last, last_);
  }
  if (aborting.joinable()) return aborting.join();
  const ContextScope scope(context_->symbols(), context_->handle());
  nccl_->ncclCommAbort(comm_);
}

}  // namespace baton::hal::drivers::cuda
