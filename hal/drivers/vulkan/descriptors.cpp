// Kernels by descriptors: a descriptor set for each launch, and push constants, both inside the command buffer.
#include <algorithm>

#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/recording.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

// A range of storage buffer that Vulkan takes, or why it does not.
Result<VkDescriptorBufferInfo> describe(const ResolvedBinding& binding, uint32_t ordinal, const Pipeline& pipeline,
                                        Device& device) {
  const VkPhysicalDeviceLimits& limits = device.context().facts().limits;
  if (binding.length == 0) {  // Vulkan has no empty ones.
    const Block& empty = device.empty_block();
    return VkDescriptorBufferInfo{empty.slab->buffer, empty.offset, empty.length};
  }
  if (binding.slab_offset % limits.minStorageBufferOffsetAlignment != 0) {
    return failure(StatusCode::kInvalidArgument, "Binding ", ordinal, " begins ", binding.slab_offset,
                   " bytes into its memory; a kernel by descriptors needs a multiple of ",
                   limits.minStorageBufferOffsetAlignment, ".");
  }
  if (binding.length > limits.maxStorageBufferRange) {
    return failure(StatusCode::kOutOfRange, "Binding ", ordinal, " has ", binding.length, " bytes; the device takes ",
                   limits.maxStorageBufferRange, " of a kernel by descriptors, and more of one by address.");
  }
  if (pipeline.has_small_elements(ordinal)) {
    return VkDescriptorBufferInfo{binding.slab->buffer, binding.slab_offset, binding.length};
  }
  // Up to whole words, which is what shaders read; blocks are never shorter.
  return VkDescriptorBufferInfo{binding.slab->buffer, binding.slab_offset, (binding.length + 3) / 4 * 4};
}

}  // namespace

Status PreparedCommands::bind_descriptors(const Launch& launch, VkCommandBuffer commands, const Arguments& arguments) {
  Context& context = device_.context();
  const DeviceSymbols& symbols = context.symbols();
  const Pipeline& pipeline = *launch.pipeline;
  const uint32_t count = std::min(pipeline.binding_count(), static_cast<uint32_t>(launch.bindings.size()));
  if (count != 0) {
    VkDescriptorSetLayout layout = pipeline.set_layout();
    VkDescriptorSetAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    info.descriptorPool = descriptor_pool_;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout;
    VkDescriptorSet set = VK_NULL_HANDLE;
    BATON_VULKAN_TRY(symbols, vkAllocateDescriptorSets, context.handle(), &info, &set);
    std::vector<VkDescriptorBufferInfo> buffers(count);
    for (uint32_t i = 0; i < count; ++i) {
      BATON_TRY_ASSIGN(buffers[i], describe(resolve(launch.bindings[i], arguments, table_), i, pipeline, device_));
    }
    VkWriteDescriptorSet write{};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set;
    write.descriptorCount = count;  // From binding 0 on, one each: they go on in the next binding.
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = buffers.data();
    symbols.vkUpdateDescriptorSets(context.handle(), 1, &write, 0, nullptr);
    symbols.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0, 1, &set, 0,
                                    nullptr);
  }
  std::vector<uint32_t> constants(launch.constants.begin(), launch.constants.end());
  for (const ConstantSlot& slot : launch.constant_slots) constants[slot.constant] = arguments.constants[slot.slot];
  constants.resize(pipeline.push_bytes() / 4);
  if (!constants.empty()) {
    symbols.vkCmdPushConstants(commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, pipeline.push_bytes(),
                               constants.data());
  }
  return {};
}

}  // namespace baton::hal::drivers::vulkan
