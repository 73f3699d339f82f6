// Pipeline: a kernel that can be launched, and how it takes its arguments.
//
// By address: eight bytes of push constants are the address of the dispatch's record
// {u64 pointer[n], u64 length[n], u32 constant[m]}. By descriptors: binding i of set 0 is a storage buffer, and the
// push constants are the constants.
// The device's compiler gets the code when the kernel is first encoded, not when it is loaded: a program has many kernels,
// and a call runs some.
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hal/drivers/vulkan/context.hpp"
#include "hal/drivers/vulkan/spirv_declarations.hpp"

namespace baton::hal::drivers::vulkan {

// What the entry points of a module share.
struct PipelineCode {
  PipelineCode(std::span<const std::byte> code, std::span<const uint32_t> given,
               std::vector<SpirvSpecialized> declared = {});

  std::vector<uint32_t> words;                // SPIR-V.
  std::vector<uint32_t> constants;            // Specialization, by id,
  std::vector<SpirvSpecialized> specialized;  // and the constants that the code declares.
};

class Pipeline final : public RefCounted<Pipeline> {
 public:
  struct Request {
    std::shared_ptr<const PipelineCode> code;
    std::string entry_point = "main";
    uint32_t function = 0;  // Of the entry point, in a module that has others beside it; else 0.
    bool by_address = true;
    bool folds_grid = false;
    uint32_t binding_count = 0;   // Of descriptors.
    uint64_t small_elements = 0;  // SpirvEntryPoint::small_elements.
    uint32_t push_bytes = 8;
    uint32_t subgroup_size = 0;    // 0: the device chooses.
    bool whole_subgroups = false;  // All threads of each are there.
  };
  static Result<Ref<Pipeline>> make(Ref<Context> context, Request request);
  ~Pipeline();

  // Compiled by the first who asks.
  Result<VkPipeline> handle() const {
    const VkPipeline made = handle_.load(std::memory_order_acquire);
    if (made) return made;
    return compiled();
  }
  VkPipelineLayout layout() const { return layout_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }  // Null: it has no descriptors.
  bool by_address() const { return request_.by_address; }
  // A grid that is one long row may be given any shape.
  bool folds_grid() const { return request_.folds_grid; }
  uint32_t binding_count() const { return request_.binding_count; }
  // The range of this binding ends with its last byte, and not with a word.
  bool has_small_elements(uint32_t binding) const {
    return binding < 64 && (request_.small_elements >> binding & 1) != 0;
  }
  uint32_t push_bytes() const { return request_.push_bytes; }

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  Pipeline(Ref<Context> context, Request request) : context_(std::move(context)), request_(std::move(request)) {}
  Status make_layouts();
  Result<VkPipeline> compiled() const;
  Result<VkPipeline> compile() const;

  const Ref<Context> context_;
  const Request request_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  mutable std::mutex compiling_;
  mutable std::atomic<VkPipeline> handle_ = VK_NULL_HANDLE;
};

}  // namespace baton::hal::drivers::vulkan
