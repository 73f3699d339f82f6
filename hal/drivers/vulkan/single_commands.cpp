#include "hal/drivers/vulkan/single_commands.hpp"

#include "hal/drivers/vulkan/barriers.hpp"

namespace baton::hal::drivers::vulkan {

SingleCommands::~SingleCommands() {
  const Context& context = timeline_->context();
  for (const Open& one : used_) {
    const Status waited = timeline_->wait(one.serial);
    context.symbols().vkDestroyCommandPool(context.handle(), one.pool, nullptr);
  }
}

// The oldest one, if the device is through with it.
Result<SingleCommands::Open> SingleCommands::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!used_.empty() && timeline_->reached(used_.front().serial)) {
      const Open open = used_.front();
      used_.pop_front();
      return open;
    }
  }
  Context& context = timeline_->context();
  Open open;
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  pool.queueFamilyIndex = context.facts().queue_family;
  BATON_VULKAN_TRY(context.symbols(), vkCreateCommandPool, context.handle(), &pool, nullptr, &open.pool);
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = open.pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  const VkResult made = context.symbols().vkAllocateCommandBuffers(context.handle(), &info, &open.commands);
  if (made == VK_SUCCESS) return open;
  context.symbols().vkDestroyCommandPool(context.handle(), open.pool, nullptr);
  return context.status_of(made, "vkAllocateCommandBuffers");
}

Result<SingleCommands::Open> SingleCommands::begin() {
  BATON_TRY_ASSIGN(const Open open, take());
  Context& context = timeline_->context();
  VkResult result = context.symbols().vkResetCommandPool(context.handle(), open.pool, 0);
  if (result == VK_SUCCESS) {
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    result = context.symbols().vkBeginCommandBuffer(open.commands, &info);
  }
  if (result != VK_SUCCESS) {
    drop(open);
    return context.status_of(result, "vkBeginCommandBuffer");
  }
  first_barrier(context.symbols(), open.commands);
  return open;
}

Result<uint64_t> SingleCommands::submit(Open open) {
  Context& context = timeline_->context();
  last_barrier(context.symbols(), open.commands);
  Status ended = context.status_of(context.symbols().vkEndCommandBuffer(open.commands), "vkEndCommandBuffer");
  if (!ended.ok()) {
    drop(open);
    return ended;
  }
  auto submitted = timeline_->submit(open.commands);
  if (submitted.has_value()) open.serial = *submitted;
  drop(open);
  return submitted;
}

void SingleCommands::drop(Open open) {
  const std::lock_guard lock(mutex_);
  used_.push_back(open);
}

Result<uint64_t> SingleCommands::fill_zeros(const Span& target) {
  BATON_TRY_ASSIGN(const Open open, begin());
  timeline_->context().symbols().vkCmdFillBuffer(open.commands, target.buffer, target.offset, target.length, 0);
  return submit(open);
}

Result<uint64_t> SingleCommands::copy(const Span& source, const Span& target) {
  BATON_TRY_ASSIGN(const Open open, begin());
  const VkBufferCopy region{source.offset, target.offset, source.length};
  timeline_->context().symbols().vkCmdCopyBuffer(open.commands, source.buffer, target.buffer, 1, &region);
  return submit(open);
}

}  // namespace baton::hal::drivers::vulkan
