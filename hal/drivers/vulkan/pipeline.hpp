// Pipeline: a kernel that can be launched, and how it takes its arguments.
//
// By address: eight bytes of push constants are the address of the dispatch's record
// {u64 pointer[n], u64 length[n], u32 constant[m]}. By descriptors: binding i of set 0 is a storage buffer, and the
// push constants are the constants.
// Threads: immutable.
#pragma once

#include <span>

#include "hal/drivers/vulkan/context.hpp"
#include "hal/drivers/vulkan/spirv_declarations.hpp"

namespace baton::hal::drivers::vulkan {

class Pipeline final : public RefCounted<Pipeline> {
 public:
  struct Request {
    std::span<const std::byte> code;  // SPIR-V.
    const char* entry_point = "main";
    uint32_t function = 0;  // Of the entry point, in a module that has others beside it; else 0.
    bool by_address = true;
    bool folds_grid = false;
    uint32_t binding_count = 0;   // Of descriptors.
    uint64_t small_elements = 0;  // SpirvEntryPoint::small_elements.
    uint32_t push_bytes = 8;
    uint32_t subgroup_size = 0;                          // 0: the device chooses.
    bool whole_subgroups = false;                        // All threads of each are there.
    std::span<const uint32_t> constants = {};            // Specialization, by id,
    std::span<const SpirvSpecialized> specialized = {};  // and the constants that the code declares.
  };
  static Result<Ref<Pipeline>> make(Ref<Context> context, const Request& request);
  ~Pipeline();

  VkPipeline handle() const { return handle_; }
  VkPipelineLayout layout() const { return layout_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }  // Null: it has no descriptors.
  bool by_address() const { return by_address_; }
  // A grid that is one long row may be given any shape.
  bool folds_grid() const { return folds_grid_; }
  uint32_t binding_count() const { return binding_count_; }
  // The range of this binding ends with its last byte, and not with a word.
  bool has_small_elements(uint32_t binding) const { return binding < 64 && (small_elements_ >> binding & 1) != 0; }
  uint32_t push_bytes() const { return push_bytes_; }

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  Pipeline(Ref<Context> context, const Request& request)
      : context_(std::move(context)),
        by_address_(request.by_address),
        folds_grid_(request.folds_grid),
        binding_count_(request.binding_count),
        small_elements_(request.small_elements),
        push_bytes_(request.push_bytes) {}
  Status make_layouts();
  Status make_pipeline(const Request& request);

  const Ref<Context> context_;
  const bool by_address_;
  const bool folds_grid_;
  const uint32_t binding_count_;
  const uint64_t small_elements_;
  const uint32_t push_bytes_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline handle_ = VK_NULL_HANDLE;
};

}  // namespace baton::hal::drivers::vulkan
