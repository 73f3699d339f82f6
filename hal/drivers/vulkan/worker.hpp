// Worker: the threads of a Vulkan device that run code of the host: host calls, and recordings that have some in them.
// The first one starts with the first thing to do. While it is in a host call, that may wait for others: it runs a program of
// its own device, or has another thread run one. So a task that is ready and finds all threads in tasks for a while gets one
// more thread, which stays.
//
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "hal/drivers/common/device_thread.hpp"
#include "hal/drivers/common/task.hpp"

namespace baton::hal::drivers::vulkan {

class Worker final : public RefCounted<Worker>, public DeviceThreadOwner {
 public:
  void post(Task& task);
  // Finishes what was posted. From any thread, its own too.
  void stop();
  void work() override;
  void leave() override;

 private:
  void start_if_all_busy();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task*> tasks_;           // Guarded by mutex_.
  std::vector<std::thread> threads_;  // Guarded by mutex_.
  size_t busy_ = 0;                   // Guarded by mutex_: how many of the threads are in tasks.
  bool stopping_ = false;             // Guarded by mutex_.
  std::atomic<bool> leaving_{false};
};

}  // namespace baton::hal::drivers::vulkan
