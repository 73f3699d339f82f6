// ExecutionClock: how long executions took on the device, by events of the driver before and behind each.
//
// Off, it costs a load. On, it costs two events an execution; they are read when take() is called, or when there are
// many.
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "hal/drivers/cuda/primary_context.hpp"
#include "hal/queue.hpp"

namespace baton::hal::drivers::cuda {

class ExecutionClock {
 public:
  explicit ExecutionClock(Ref<PrimaryContext> context) : context_(std::move(context)) {}
  ~ExecutionClock();

  void turn(bool on) { on_.store(on, std::memory_order_relaxed); }
  bool on() const { return on_.load(std::memory_order_relaxed); }

  // One execution. The context is current, and the stream is locked from begin() to end().
  struct Span {
    CUevent before = nullptr;
    CUevent behind = nullptr;
  };
  Status begin(CUstream stream, Span& span);
  Status end(CUstream stream, const Span& span);

  ExecutionTimes take();

 private:
  Result<CUevent> take_event();
  // Adds up what the device has come by.
  void read();

  const Ref<PrimaryContext> context_;
  std::atomic<bool> on_{false};
  std::mutex mutex_;
  std::vector<CUevent> spare_;  // Guarded by mutex_.
  std::vector<Span> ended_;     // Guarded by mutex_; not read yet.
  ExecutionTimes times_;        // Guarded by mutex_.
};

}  // namespace baton::hal::drivers::cuda
