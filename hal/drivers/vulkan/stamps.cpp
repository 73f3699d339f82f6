#include "hal/drivers/vulkan/stamps.hpp"

#include <memory>

#include "hal/drivers/vulkan/recording.hpp"
#include "hal/drivers/vulkan/work_spans.hpp"

namespace baton::hal::drivers::vulkan {

StampPool::StampPool(StampPool&& other) noexcept
    : context_(other.context_),
      queries_(std::exchange(other.queries_, VK_NULL_HANDLE)),
      pool_(std::exchange(other.pool_, VK_NULL_HANDLE)),
      commands_(std::move(other.commands_)) {}

StampPool::~StampPool() {
  context_->symbols().vkDestroyQueryPool(context_->handle(), queries_, nullptr);
  context_->symbols().vkDestroyCommandPool(context_->handle(), pool_, nullptr);
}

Result<StampPool> StampPool::make(const Ref<Context>& context, uint32_t stamps, uint32_t command_buffers) {
  StampPool made(context);
  const DeviceSymbols& symbols = context->symbols();
  VkQueryPoolCreateInfo queries{};
  queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queries.queryCount = stamps;
  BATON_VULKAN_TRY(symbols, vkCreateQueryPool, context->handle(), &queries, nullptr, &made.queries_);
  if (command_buffers == 0) return made;
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = context->facts().queue_family;
  BATON_VULKAN_TRY(symbols, vkCreateCommandPool, context->handle(), &pool, nullptr, &made.pool_);
  made.commands_.resize(command_buffers);
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = made.pool_;
  info.commandBufferCount = command_buffers;
  BATON_VULKAN_TRY(symbols, vkAllocateCommandBuffers, context->handle(), &info, made.commands_.data());
  return made;
}

Status StampPool::begin(size_t index) const {
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  BATON_VULKAN_TRY(context_->symbols(), vkBeginCommandBuffer, commands_[index], &info);
  return {};
}

Status StampPool::end(size_t index) const {
  BATON_VULKAN_TRY(context_->symbols(), vkEndCommandBuffer, commands_[index]);
  return {};
}

void StampPool::reset(VkCommandBuffer commands, uint32_t first, uint32_t count) const {
  context_->symbols().vkCmdResetQueryPool(commands, queries_, first, count);
}

// When all that stands in front of it is done.
void StampPool::write(VkCommandBuffer commands, uint32_t stamp) const {
  context_->symbols().vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, stamp);
}

bool StampPool::read(uint32_t first, std::span<uint64_t> ticks) const {
  return context_->symbols().vkGetQueryPoolResults(
             context_->handle(), queries_, first, static_cast<uint32_t>(ticks.size()), ticks.size_bytes(), ticks.data(),
             sizeof(uint64_t), VK_QUERY_RESULT_64_BIT) == VK_SUCCESS;
}

Result<std::unique_ptr<Stamps>> Stamps::make(const Ref<Context>& context, std::span<const Step> steps) {
  std::vector<Place> places(steps.size());
  uint32_t stamps = 0, commands = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].host) continue;
    Place& place = places[i];
    place.first = stamps;
    place.commands = commands;
    if (steps[i].segment) {
      place.labels.push_back(steps[i].segment->label);
      commands += 2;
    }
    for (const Record* record = steps[i].first; record; record = record->next) {
      if (record->kind == RecordKind::kBarrier) continue;
      if (record->kind != RecordKind::kLaunch) break;
      place.labels.push_back(record->label);
    }
    stamps += static_cast<uint32_t>(place.labels.size()) + 1;
  }
  if (stamps == 0) return std::unique_ptr<Stamps>();
  BATON_TRY_ASSIGN(StampPool pool, StampPool::make(context, stamps, commands));
  auto made = std::unique_ptr<Stamps>(new Stamps(std::move(pool)));
  made->places_ = std::move(places);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].segment) continue;
    const Place& place = made->places_[i];
    for (uint32_t side = 0; side < 2; ++side) {
      BATON_TRY(made->pool_.begin(place.commands + side));
      const VkCommandBuffer recorded = made->pool_.commands(place.commands + side);
      if (side == 0) made->pool_.reset(recorded, place.first, 2);
      made->pool_.write(recorded, place.first + side);
      BATON_TRY(made->pool_.end(place.commands + side));
    }
  }
  return made;
}

void Stamps::begin(VkCommandBuffer commands, size_t step) const {
  const Place& place = places_[step];
  pool_.reset(commands, place.first, static_cast<uint32_t>(place.labels.size()) + 1);
  pool_.write(commands, place.first);
}

void Stamps::behind(VkCommandBuffer commands, size_t step, uint32_t launch) const {
  pool_.write(commands, places_[step].first + 1 + launch);
}

// Launches of one command, a copy of a grid and what it is for, are one span.
void Stamps::tell(size_t step, WorkSpans& spans) const {
  const Place& place = places_[step];
  if (place.labels.empty()) return;
  std::vector<uint64_t> ticks(place.labels.size() + 1);
  if (!pool_.read(place.first, ticks)) return;
  std::vector<WorkSpan> all;
  for (size_t i = 0; i < place.labels.size(); ++i) {
    const bool goes_on = !all.empty() && all.back().label && all.back().label == place.labels[i];
    if (goes_on) {
      all.back().end = ticks[i + 1];
    } else {
      all.push_back({place.labels[i], ticks[i], ticks[i + 1]});
    }
  }
  spans.add(all);
}

}  // namespace baton::hal::drivers::vulkan
