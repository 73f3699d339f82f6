// ExecutionClock: how long executions take on the device, by timestamps around them. Off, it costs a load.
//
// Threads: internally synchronized.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "hal/drivers/vulkan/context.hpp"
#include "hal/queue.hpp"

namespace baton::hal::drivers::vulkan {

class ExecutionClock {
 public:
  explicit ExecutionClock(Ref<Context> context) : context_(std::move(context)) {}
  ~ExecutionClock();

  bool on() const { return on_.load(std::memory_order_relaxed); }
  // UNIMPLEMENTED where the queue takes no timestamps.
  Status turn(bool on);
  ExecutionTimes take();

  // Command buffers to submit before and after those of an execution.
  struct Watch {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkQueryPool queries = VK_NULL_HANDLE;
    VkCommandBuffer before = VK_NULL_HANDLE;
    VkCommandBuffer after = VK_NULL_HANDLE;
  };
  Result<Watch*> begin();
  // The device is through with both. Without `counted` nothing is added.
  void end(Watch* watch, bool counted);

 private:
  Result<std::unique_ptr<Watch>> make();
  Status record(Watch& watch) const;
  void destroy(const Watch& watch) const;

  const Ref<Context> context_;
  std::atomic<bool> on_{false};
  std::mutex mutex_;
  ExecutionTimes times_;                      // Guarded by mutex_.
  std::vector<std::unique_ptr<Watch>> idle_;  // Guarded by mutex_.
};

}  // namespace baton::hal::drivers::vulkan
