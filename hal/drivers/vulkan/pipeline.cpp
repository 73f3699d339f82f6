#include "hal/drivers/vulkan/pipeline.hpp"

#include <cstring>

#include "hal/drivers/vulkan/spirv_part.hpp"

namespace baton::hal::drivers::vulkan {

Result<Ref<Pipeline>> Pipeline::make(Ref<Context> context, const Request& request) {
  auto pipeline = make_ref<Pipeline>(std::move(context), request);
  BATON_TRY(pipeline->make_layouts());
  BATON_TRY(pipeline->make_pipeline(request));
  return pipeline;
}

Status Pipeline::make_layouts() {
  const DeviceSymbols& symbols = context_->symbols();
  if (!by_address_ && binding_count_ != 0) {
    std::vector<VkDescriptorSetLayoutBinding> bindings(binding_count_);
    for (uint32_t i = 0; i < binding_count_; ++i) {
      bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    }
    VkDescriptorSetLayoutCreateInfo set{};
    set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set.bindingCount = binding_count_;
    set.pBindings = bindings.data();
    BATON_VULKAN_TRY(symbols, vkCreateDescriptorSetLayout, context_->handle(), &set, nullptr, &set_layout_);
  }
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes_};
  VkPipelineLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.setLayoutCount = set_layout_ ? 1 : 0;
  layout.pSetLayouts = &set_layout_;
  layout.pushConstantRangeCount = push_bytes_ ? 1 : 0;
  layout.pPushConstantRanges = &range;
  BATON_VULKAN_TRY(symbols, vkCreatePipelineLayout, context_->handle(), &layout, nullptr, &layout_);
  return {};
}

Status Pipeline::make_pipeline(const Request& request) {
  const DeviceSymbols& symbols = context_->symbols();
  std::vector<uint32_t> words(request.code.size() / 4);  // The bytes may lie anywhere.
  std::memcpy(words.data(), request.code.data(), words.size() * 4);
  if (request.function != 0) words = only_entry_point(words, request.function);
  VkShaderModuleCreateInfo code{};
  code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code.codeSize = words.size() * 4;
  code.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  BATON_VULKAN_TRY(symbols, vkCreateShaderModule, context_->handle(), &code, nullptr, &module);
  std::vector<VkSpecializationMapEntry> entries;
  for (const auto& [id, bytes] : request.specialized) {
    if (id < request.constants.size()) entries.push_back({id, id * 4, bytes});
  }
  const VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(),
                                            request.constants.size_bytes(), request.constants.data()};
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = request.entry_point;
  info.stage.pSpecializationInfo = entries.empty() ? nullptr : &specialization;
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroups{};
  subgroups.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  subgroups.requiredSubgroupSize = request.subgroup_size;
  if (request.subgroup_size != 0) info.stage.pNext = &subgroups;
  if (request.whole_subgroups) info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  info.layout = layout_;
  const VkResult made =
      symbols.vkCreateComputePipelines(context_->handle(), context_->pipeline_cache(), 1, &info, nullptr, &handle_);
  symbols.vkDestroyShaderModule(context_->handle(), module, nullptr);
  return context_->status_of(made, "vkCreateComputePipelines");
}

Pipeline::~Pipeline() {
  const DeviceSymbols& symbols = context_->symbols();
  symbols.vkDestroyPipeline(context_->handle(), handle_, nullptr);
  symbols.vkDestroyPipelineLayout(context_->handle(), layout_, nullptr);
  symbols.vkDestroyDescriptorSetLayout(context_->handle(), set_layout_, nullptr);
}

}  // namespace baton::hal::drivers::vulkan
