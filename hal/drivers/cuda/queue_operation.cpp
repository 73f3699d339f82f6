#include "hal/drivers/cuda/queue_operation.hpp"

#include "hal/drivers/cuda/driver_callback.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// A chain of operations that release each other runs in one stack frame: what becomes ready while this thread runs
// another is queued behind it.
thread_local std::deque<Worker::Task*> ready_here;
thread_local bool running_here = false;

void run_here(Worker::Task& task) {
  ready_here.push_back(&task);
  if (running_here) return;
  running_here = true;
  while (!ready_here.empty()) {
    Worker::Task* now = ready_here.front();
    ready_here.pop_front();
    now->run();
  }
  running_here = false;
}

}  // namespace

void Queue::Operation::start(const Order& order) {
  queue_.enter();
  for (const SemaphorePoint& signal : order.signals) {
    signals_.push_back(signal);
    retained_.emplace_back(signal.semaphore);
  }
  waits_ = std::make_unique<Wait[]>(order.waits.size());
  pending_ = order.waits.size() + 1;  // One for this function: it must be through before the operation may go.
  for (size_t i = 0; i < order.waits.size(); ++i) {
    waits_[i].operation = this;
    const SemaphorePoint& wait = order.waits[i];
    auto* own = wants_ == Wants::kPromised ? dynamic_cast<Semaphore*>(wait.semaphore) : nullptr;
    if (own) {
      own->notify_scheduled(wait.value, waits_[i]);
    } else {
      wait.semaphore->notify(wait.value, waits_[i]);
    }
  }
  one_wait_less();
}

// The first failed wait fails the signals at once; the others may never come.
void Queue::Operation::wait_over(const Status& status, Ref<Mark> mark) {
  if (!status.ok() && !failed_.exchange(true)) queue_.conclude(signals_, status);
  if (mark) {
    std::lock_guard lock(marks_mutex_);
    marks_.push_back(std::move(mark));
  }
  one_wait_less();
}

void Queue::Operation::one_wait_less() {
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (failed_) return finish();
  if (on_ == On::kWorker || DriverCallback::inside()) return queue_.parts_.worker->post(*this);
  run_here(*this);
}

void Queue::Operation::run() {
  perform(marks_, signals_);
  finish();
}

void Queue::Operation::finish() {
  // The device may go with the operation, and the queue with the device: nothing of the queue is touched after.
  const Ref<hal::Device> keep = device_;
  Queue& queue = queue_;
  delete this;
  queue.leave();
}

}  // namespace baton::hal::drivers::cuda
