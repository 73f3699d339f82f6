// Worker: the one thread that a CUDA device has on the host. It starts with the first thing to do.
//
// It runs what may not run in a driver's callback or would block a caller (host calls of the queue, recordings whose
// grid is read on the host), tells those who asked to be told that the device has come somewhere (one thread for all of
// them, never one for a wait), and lets go of what finished work kept when no other thread does.
// Threads: internally synchronized.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <thread>

#include "hal/drivers/common/device_thread.hpp"
#include "hal/drivers/common/task.hpp"
#include "hal/drivers/cuda/stream.hpp"

namespace baton::hal::drivers::cuda {

class Worker final : public RefCounted<Worker>, public DeviceThreadOwner {
 public:
  // Asked again and again until it says that it is finished.
  class Watch {
   public:
    virtual ~Watch() = default;
    virtual bool finished() = 0;
  };

  // Looked at from time to time while the device works.
  class Guard {
   public:
    virtual ~Guard() = default;
    virtual void look() = 0;
  };

  explicit Worker(std::vector<Ref<Stream>> streams) : streams_(std::move(streams)) {}

  void post(Task& task);
  void watch(std::unique_ptr<Watch> watch);
  // Until the guard's owner lets go of it.
  void add_guard(std::weak_ptr<Guard> guard);
  // Work was enqueued: this thread is to let go of what it kept.
  void touch() {
    if (!awake_.load(std::memory_order_relaxed)) [[unlikely]]
      wake();
  }
  // Finishes what was posted. From any thread, its own too.
  void stop();
  void work() override;
  void leave() override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void wake();
  void start(Lock& lock);
  bool round(Lock& lock);
  bool poll_watches();
  size_t reap();
  void drop_bound_tables();
  void look_at_guards();

  const std::vector<Ref<Stream>> streams_;
  std::atomic<bool> awake_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;     // Guarded by mutex_.
  bool stopping_ = false;  // Guarded by mutex_.
  std::atomic<bool> leaving_{false};
  std::deque<Task*> tasks_;                          // Guarded by mutex_.
  std::vector<std::unique_ptr<Watch>> new_watches_;  // Guarded by mutex_.
  std::vector<std::unique_ptr<Watch>> watches_;      // Of the thread alone.
  std::mutex guards_mutex_;
  std::vector<std::weak_ptr<Guard>> guards_;             // Guarded by guards_mutex_.
  std::chrono::steady_clock::time_point guards_seen_{};  // Of the thread alone.
};

}  // namespace baton::hal::drivers::cuda
