// The barriers of the driver: all of memory, since addresses leave nothing to name.
#pragma once

#include "hal/drivers/vulkan/symbols.hpp"

namespace baton::hal::drivers::vulkan {

inline void memory_barrier(const DeviceSymbols& symbols, VkCommandBuffer commands, VkPipelineStageFlags before,
                           VkPipelineStageFlags after, VkAccessFlags written, VkAccessFlags used) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = written;
  barrier.dstAccessMask = used;
  symbols.vkCmdPipelineBarrier(commands, before, after, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

inline constexpr VkPipelineStageFlags kWorkStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
inline constexpr VkAccessFlags kWorkWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
inline constexpr VkAccessFlags kWorkUses =
    kWorkWrites | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_INDIRECT_COMMAND_READ_BIT;

// Between commands: what was written before is seen after, and nothing overtakes.
inline void work_barrier(const DeviceSymbols& symbols, VkCommandBuffer commands) {
  memory_barrier(symbols, commands, kWorkStages, kWorkStages, kWorkWrites, kWorkUses);
}

// At the beginning of every command buffer: behind all that was submitted before, library work included.
inline void first_barrier(const DeviceSymbols& symbols, VkCommandBuffer commands) {
  memory_barrier(symbols, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                 VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

// At the end of every command buffer: the host sees what was written once the submission is through.
inline void last_barrier(const DeviceSymbols& symbols, VkCommandBuffer commands) {
  memory_barrier(symbols, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                 VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_HOST_READ_BIT);
}

}  // namespace baton::hal::drivers::vulkan
