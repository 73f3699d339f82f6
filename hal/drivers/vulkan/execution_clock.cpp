#include "hal/drivers/vulkan/execution_clock.hpp"

#include "hal/device.hpp"

namespace baton::hal::drivers::vulkan {

ExecutionClock::~ExecutionClock() {
  for (const auto& watch : idle_) destroy(*watch);
}

Status ExecutionClock::turn(bool on) {
  if (on && context_->facts().timestamp_bits == 0) {
    return failure(StatusCode::kUnimplemented, "Device '", context_->facts().name, "' has no clock.");
  }
  on_.store(on, std::memory_order_relaxed);
  return {};
}

ExecutionTimes ExecutionClock::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(times_, {});
}

// Recorded once: each execution resets the queries and takes both times.
Status ExecutionClock::record(Watch& watch) const {
  const DeviceSymbols& symbols = context_->symbols();
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  BATON_VULKAN_TRY(symbols, vkBeginCommandBuffer, watch.before, &begin);
  symbols.vkCmdResetQueryPool(watch.before, watch.queries, 0, 2);
  symbols.vkCmdWriteTimestamp(watch.before, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, watch.queries, 0);
  BATON_VULKAN_TRY(symbols, vkEndCommandBuffer, watch.before);
  BATON_VULKAN_TRY(symbols, vkBeginCommandBuffer, watch.after, &begin);
  symbols.vkCmdWriteTimestamp(watch.after, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, watch.queries, 1);
  BATON_VULKAN_TRY(symbols, vkEndCommandBuffer, watch.after);
  return {};
}

Result<std::unique_ptr<ExecutionClock::Watch>> ExecutionClock::make() {
  const DeviceSymbols& symbols = context_->symbols();
  auto watch = std::make_unique<Watch>();
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = context_->facts().queue_family;
  VkResult result = symbols.vkCreateCommandPool(context_->handle(), &pool, nullptr, &watch->pool);
  VkCommandBuffer buffers[2] = {};
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = watch->pool;
  info.commandBufferCount = 2;
  if (result == VK_SUCCESS) result = symbols.vkAllocateCommandBuffers(context_->handle(), &info, buffers);
  VkQueryPoolCreateInfo queries{};
  queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queries.queryCount = 2;
  if (result == VK_SUCCESS) {
    result = symbols.vkCreateQueryPool(context_->handle(), &queries, nullptr, &watch->queries);
  }
  watch->before = buffers[0];
  watch->after = buffers[1];
  Status status = context_->status_of(result, "vkCreateQueryPool");
  if (status.ok()) status = record(*watch);
  if (status.ok()) return watch;
  destroy(*watch);
  return status;
}

void ExecutionClock::destroy(const Watch& watch) const {
  context_->symbols().vkDestroyQueryPool(context_->handle(), watch.queries, nullptr);
  context_->symbols().vkDestroyCommandPool(context_->handle(), watch.pool, nullptr);
}

Result<ExecutionClock::Watch*> ExecutionClock::begin() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Watch* const watch = idle_.back().release();
      idle_.pop_back();
      return watch;
    }
  }
  BATON_TRY_ASSIGN(auto made, make());
  return made.release();
}

void ExecutionClock::end(Watch* watch, bool counted) {
  uint64_t stamps[2] = {};
  const VkResult read =
      counted ? context_->symbols().vkGetQueryPoolResults(context_->handle(), watch->queries, 0, 2, sizeof(stamps),
                                                          stamps, sizeof(uint64_t), VK_QUERY_RESULT_64_BIT)
              : VK_NOT_READY;
  const std::lock_guard lock(mutex_);
  idle_.emplace_back(watch);
  if (read != VK_SUCCESS) return;
  const uint32_t bits = context_->facts().timestamp_bits;
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t ticks = (stamps[1] - stamps[0]) & mask;
  ++times_.executions;
  times_.total_ns += static_cast<int64_t>(static_cast<double>(ticks) * context_->facts().limits.timestampPeriod);
}

}  // namespace baton::hal::drivers::vulkan
