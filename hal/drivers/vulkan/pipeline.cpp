#include "hal/drivers/vulkan/pipeline.hpp"

#include <cstring>

#include "hal/drivers/vulkan/spirv_part.hpp"

namespace baton::hal::drivers::vulkan {

// The bytes may lie anywhere.
PipelineCode::PipelineCode(std::span<const std::byte> code, std::span<const uint32_t> given,
                           std::vector<SpirvSpecialized> declared)
    : words(code.size() / 4), constants(given.begin(), given.end()), specialized(std::move(declared)) {
  std::memcpy(words.data(), code.data(), words.size() * 4);
}

Result<Ref<Pipeline>> Pipeline::make(Ref<Context> context, Request request) {
  auto pipeline = make_ref<Pipeline>(std::move(context), std::move(request));
  BATON_TRY(pipeline->make_layouts());
  return pipeline;
}

Status Pipeline::make_layouts() {
  const DeviceSymbols& symbols = context_->symbols();
  if (!by_address() && binding_count() != 0) {
    std::vector<VkDescriptorSetLayoutBinding> bindings(binding_count());
    for (uint32_t i = 0; i < binding_count(); ++i) {
      bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    }
    VkDescriptorSetLayoutCreateInfo set{};
    set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set.bindingCount = binding_count();
    set.pBindings = bindings.data();
    BATON_VULKAN_TRY(symbols, vkCreateDescriptorSetLayout, context_->handle(), &set, nullptr, &set_layout_);
  }
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes()};
  VkPipelineLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.setLayoutCount = set_layout_ ? 1 : 0;
  layout.pSetLayouts = &set_layout_;
  layout.pushConstantRangeCount = push_bytes() ? 1 : 0;
  layout.pPushConstantRanges = &range;
  BATON_VULKAN_TRY(symbols, vkCreatePipelineLayout, context_->handle(), &layout, nullptr, &layout_);
  return {};
}

Result<VkPipeline> Pipeline::compiled() const {
  std::lock_guard lock(compiling_);
  if (const VkPipeline made = handle_.load(std::memory_order_relaxed)) return made;
  BATON_TRY_ASSIGN(const VkPipeline made, compile());
  handle_.store(made, std::memory_order_release);
  return made;
}

Result<VkPipeline> Pipeline::compile() const {
  const DeviceSymbols& symbols = context_->symbols();
  const PipelineCode& whole = *request_.code;
  std::vector<uint32_t> part;
  if (request_.function != 0) part = only_entry_point(whole.words, request_.function);
  const std::vector<uint32_t>& words = request_.function != 0 ? part : whole.words;
  VkShaderModuleCreateInfo code{};
  code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code.codeSize = words.size() * 4;
  code.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  BATON_VULKAN_TRY(symbols, vkCreateShaderModule, context_->handle(), &code, nullptr, &module);
  std::vector<VkSpecializationMapEntry> entries;
  for (const auto& [id, bytes] : whole.specialized) {
    if (id < whole.constants.size()) entries.push_back({id, id * 4, bytes});
  }
  const VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(),
                                            whole.constants.size() * 4, whole.constants.data()};
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = request_.entry_point.c_str();
  info.stage.pSpecializationInfo = entries.empty() ? nullptr : &specialization;
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroups{};
  subgroups.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  subgroups.requiredSubgroupSize = request_.subgroup_size;
  if (request_.subgroup_size != 0) info.stage.pNext = &subgroups;
  if (request_.whole_subgroups) info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  info.layout = layout_;
  VkPipeline made = VK_NULL_HANDLE;
  const VkResult result =
      symbols.vkCreateComputePipelines(context_->handle(), context_->pipeline_cache(), 1, &info, nullptr, &made);
  symbols.vkDestroyShaderModule(context_->handle(), module, nullptr);
  BATON_TRY(context_->status_of(result, "vkCreateComputePipelines"));
  return made;
}

Pipeline::~Pipeline() {
  const DeviceSymbols& symbols = context_->symbols();
  symbols.vkDestroyPipeline(context_->handle(), handle_.load(std::memory_order_relaxed), nullptr);
  symbols.vkDestroyPipelineLayout(context_->handle(), layout_, nullptr);
  symbols.vkDestroyDescriptorSetLayout(context_->handle(), set_layout_, nullptr);
}

}  // namespace baton::hal::drivers::vulkan
