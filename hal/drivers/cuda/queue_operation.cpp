#include "hal/drivers/cuda/queue_operation.hpp"

#include "hal/drivers/cuda/driver_callback.hpp"

namespace baton::hal::drivers::cuda {

void Queue::Operation::listen(Waits waits) {
  if (wants_ == Wants::kReached) return DeferredOperation::listen(waits);
  waits_ = std::make_unique<Wait[]>(waits.size());
  for (size_t i = 0; i < waits.size(); ++i) {
    waits_[i].operation = this;
    const SemaphorePoint& wait = waits[i];
    if (auto* own = dynamic_cast<Semaphore*>(wait.semaphore)) {
      own->notify_scheduled(wait.value, waits_[i]);
    } else {
      wait.semaphore->notify(wait.value, waits_[i]);
    }
  }
}

void Queue::Operation::promised(const Status& status, Ref<Mark> mark) {
  if (mark) {
    const std::lock_guard lock(marks_mutex_);
    marks_.push_back(std::move(mark));
  }
  wait_over(status);
}

void Queue::Operation::ready() {
  if (on_ == On::kWorker || DriverCallback::inside()) return queue_.parts_.worker->post(*this);
  run_in_turn(*this);
}

}  // namespace baton::hal::drivers::cuda
