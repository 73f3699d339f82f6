// SingleCommands: command buffers that are submitted once: zeros for new memory, copies for mappings.
//
// Threads: internally synchronized.
#pragma once

#include <deque>

#include "hal/drivers/vulkan/timeline.hpp"

namespace baton::hal::drivers::vulkan {

class SingleCommands final : public RefCounted<SingleCommands> {
 public:
  explicit SingleCommands(Ref<Timeline> timeline) : timeline_(std::move(timeline)) {}
  ~SingleCommands();

  Timeline& timeline() const { return *timeline_; }

  struct Span {
    VkBuffer buffer;
    uint64_t offset;
    uint64_t length;
  };
  // Each returns the number of its submission.
  Result<uint64_t> fill_zeros(const Span& target);  // Offset and length are multiples of four.
  Result<uint64_t> copy(const Span& source, const Span& target);

 private:
  // One that is recorded: begun, behind all that was submitted before.
  struct Open {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    uint64_t serial = 0;
  };
  Result<Open> begin();
  // Ends and submits it.
  Result<uint64_t> submit(Open open);
  void drop(Open open);
  Result<Open> take();

  const Ref<Timeline> timeline_;
  std::mutex mutex_;
  std::deque<Open> used_;  // Guarded by mutex_, the oldest first.
};

}  // namespace baton::hal::drivers::vulkan
