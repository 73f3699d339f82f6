// Context: an open VkDevice, its one queue's handle and its symbols. Everything that holds a Vulkan handle holds it.
//
// Threads: immutable but for the loss of the device, which is atomic.
#pragma once

#include <atomic>

#include "hal/drivers/vulkan/device_facts.hpp"
#include "hal/drivers/vulkan/pipeline_cache.hpp"
#include "hal/drivers/vulkan/status.hpp"

namespace baton::hal::drivers::vulkan {

class Context final : public RefCounted<Context> {
 public:
  // `cache_folder`: where pipelines are kept on disk; empty: nowhere.
  static Result<Ref<Context>> open(Ref<Instance> instance, const DeviceFacts& facts, const std::string& cache_folder);
  ~Context();

  VkDevice handle() const { return handle_; }
  VkQueue queue() const { return queue_; }
  const DeviceSymbols& symbols() const { return symbols_; }
  const DeviceFacts& facts() const { return facts_; }
  VkPipelineCache pipeline_cache() const { return cache_ ? cache_->handle() : VK_NULL_HANDLE; }
  PFN_vkGetDeviceProcAddr get_device_proc_addr() const { return instance_->symbols().vkGetDeviceProcAddr; }

  // `result` of `call` as a status; remembers that the device is lost when it says so.
  Status status_of(VkResult result, const char* call);
  // Why nothing works any more, or ok.
  Status check() const;
  void lose() { lost_.store(true, std::memory_order_relaxed); }
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  Context(Ref<Instance> instance, const DeviceFacts& facts) : instance_(std::move(instance)), facts_(facts) {}
  Status create();

  const Ref<Instance> instance_;
  const DeviceFacts facts_;
  VkDevice handle_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  DeviceSymbols symbols_;
  std::unique_ptr<PipelineCache> cache_;  // Null: none is wanted.
  std::atomic<bool> lost_{false};
};

}  // namespace baton::hal::drivers::vulkan
