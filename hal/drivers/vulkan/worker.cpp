#include "hal/drivers/vulkan/worker.hpp"

namespace baton::hal::drivers::vulkan {

void Worker::post(Task& task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(&task);
  if (!thread_.joinable()) thread_ = start_device_thread(Ref<Worker>(this));
  changed_.notify_one();
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || leaving_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task* const task = tasks_.front();
    tasks_.pop_front();
    lock.unlock();
    task->run();
    lock.lock();
  }
}

void Worker::leave() {
  leaving_ = true;
  changed_.notify_one();
}

void Worker::stop() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
    changed_.notify_one();
  }
  end_thread(std::move(thread));
}

}  // namespace baton::hal::drivers::vulkan
