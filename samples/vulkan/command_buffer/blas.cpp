// A module whose command records with Vulkan itself: it gets the VkCommandBuffer of its place in the recording, and
// binds a pipeline of its own there. On other devices it says what it needs.
#include <vulkan/vulkan_core.h>

#include <memory>

#include "modules/sdk/module.hpp"
#include "saxpy_spv.hpp"

namespace {

using namespace baton::sdk;

struct Push {
  uint64_t x, y;
  uint32_t count;
  float alpha;
};

// What the recording keeps: made when it first runs, destroyed with it.
class Pipeline {
 public:
  explicit Pipeline(const baton_vulkan_command_buffer& on)
      : device_(static_cast<VkDevice>(on.device)),
        find_(reinterpret_cast<PFN_vkGetDeviceProcAddr>(on.get_device_proc_addr)) {
    VkShaderModuleCreateInfo code{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, sizeof(saxpy_spv),
                                  reinterpret_cast<const uint32_t*>(saxpy_spv)};
    VkShaderModule module = VK_NULL_HANDLE;
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
    VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, nullptr, 0, 0, nullptr, 1, &range};
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    result_ = find<PFN_vkCreateShaderModule>("vkCreateShaderModule")(device_, &code, nullptr, &module);
    if (result_ != VK_SUCCESS) return;
    result_ = find<PFN_vkCreatePipelineLayout>("vkCreatePipelineLayout")(device_, &layout, nullptr, &layout_);
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  nullptr,
                  0,
                  VK_SHADER_STAGE_COMPUTE_BIT,
                  module,
                  "main",
                  nullptr};
    info.layout = layout_;
    if (result_ == VK_SUCCESS) {
      result_ = find<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(device_, VK_NULL_HANDLE, 1, &info,
                                                                               nullptr, &pipeline_);
    }
    find<PFN_vkDestroyShaderModule>("vkDestroyShaderModule")(device_, module, nullptr);
  }
  ~Pipeline() {
    find<PFN_vkDestroyPipeline>("vkDestroyPipeline")(device_, pipeline_, nullptr);
    find<PFN_vkDestroyPipelineLayout>("vkDestroyPipelineLayout")(device_, layout_, nullptr);
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  VkResult result() const { return result_; }
  void record(VkCommandBuffer commands, const Push& push) const {
    find<PFN_vkCmdBindPipeline>("vkCmdBindPipeline")(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    find<PFN_vkCmdPushConstants>("vkCmdPushConstants")(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push),
                                                       &push);
    find<PFN_vkCmdDispatch>("vkCmdDispatch")(commands, (push.count + 63) / 64, 1, 1);
  }

 private:
  template <typename Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(find_(device_, name));
  }

  VkDevice device_;
  PFN_vkGetDeviceProcAddr find_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkResult result_ = VK_SUCCESS;
};

class Blas final : public Module<Blas> {
 public:
  // y = alpha * x + y
  Status saxpy(CommandBuffer& rec, float alpha, Binding<const float> x, Binding<float> y) {
    const auto made = std::make_shared<std::unique_ptr<Pipeline>>();
    const auto run = [alpha, made](Foreign& here, DeviceSpan<const float> from, DeviceSpan<float> to) -> Status {
      BATON_ASSIGN_OR_RETURN(const baton_vulkan_command_buffer on, here.vulkan().command_buffer());
      if (!on.command_buffer) return {};  // Nothing is run.
      if (!*made) *made = std::make_unique<Pipeline>(on);
      if ((*made)->result() != VK_SUCCESS) {
        return failure(StatusCode::kInternal, "Vulkan says ", static_cast<int>((*made)->result()), ".");
      }
      (*made)->record(static_cast<VkCommandBuffer>(on.command_buffer),
                      {from.address(), to.address(), static_cast<uint32_t>(to.size()), alpha});
      return {};
    };
    return rec.foreign("saxpy with Vulkan", run, x, y);
  }

  // total = the sum of x, on the host.
  Status sum(CommandBuffer& rec, Binding<const float> x, Binding<float> total) {
    const auto add_up = [](std::span<const float> numbers, std::span<float> result) {
      result[0] = 0;
      for (float number : numbers) result[0] += number;
    };
    return rec.host(add_up, x, total);
  }
};

}  // namespace

BATON_EXPORT_MODULE(Blas, "blas",                                                   //
                    BATON_COMMAND("saxpy", &Blas::saxpy, kCaptureSafe | kInPlace),  //
                    BATON_COMMAND("sum", &Blas::sum, kHostOnly));
