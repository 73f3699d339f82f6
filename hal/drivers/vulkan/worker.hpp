// Worker: the thread of a Vulkan device that runs code of the host: host calls, and recordings that have some in them.
// It starts with the first thing to do.
//
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

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
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task*> tasks_;  // Guarded by mutex_.
  std::thread thread_;       // Guarded by mutex_.
  bool stopping_ = false;    // Guarded by mutex_.
  std::atomic<bool> leaving_{false};
};

}  // namespace baton::hal::drivers::vulkan
