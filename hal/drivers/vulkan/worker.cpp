#include "hal/drivers/vulkan/worker.hpp"

#include "hal/drivers/common/host_turn.hpp"

namespace baton::hal::drivers::vulkan {

void Worker::post(Task& task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(&task);
  start_if_all_busy();
  changed_.notify_one();
}

// The lock is held.
void Worker::start_if_all_busy() {
  if (tasks_.empty() || busy_ < threads_.size() || threads_.size() >= kHostThreadsMax || stopping_) return;
  threads_.push_back(start_device_thread(Ref<Worker>(this)));
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  const auto ends = [&] { return stopping_ || leaving_; };
  if (threads_.size() > 1) changed_.wait_for(lock, kSparePatience, ends);
  while (true) {
    changed_.wait(lock, [&] { return ends() || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task* const task = tasks_.front();
    tasks_.pop_front();
    ++busy_;
    start_if_all_busy();
    lock.unlock();
    task->run();
    lock.lock();
    --busy_;
  }
}

void Worker::leave() {
  leaving_ = true;
  changed_.notify_all();
}

void Worker::stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    changed_.notify_all();
  }
  for (std::thread& thread : threads) end_thread(std::move(thread));
}

}  // namespace baton::hal::drivers::vulkan
