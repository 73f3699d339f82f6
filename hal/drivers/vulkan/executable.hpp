// Executable: the pipelines of a SPIR-V module, one for each entry point.
//
// Threads: immutable.
#pragma once

#include "hal/drivers/vulkan/driver.hpp"
#include "hal/drivers/vulkan/pipeline.hpp"
#include "hal/drivers/vulkan/spirv_module.hpp"
#include "hal/executable.hpp"

namespace baton::hal::drivers::vulkan {

class Executable final : public hal::Executable {
 public:
  // `functions`: what kernels may import.
  static Result<Ref<hal::Executable>> make(Ref<Context> context, const void* device, const ExecutableRequest& request,
                                           const ExecutableVariant& variant,
                                           std::span<const DeviceFunctions> functions);

  const Pipeline& pipeline(uint32_t entry_point) const { return *pipelines_[entry_point]; }
  // Whether the record of a dispatch ends with a FailedAccess.
  bool checks_accesses() const { return !access_checks_.empty(); }
  Status access_refused(uint32_t entry_point, const FailedAccess& failed) const;

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  Executable(Ref<Context> context, const ExecutableRequest& request, const void* device)
      : hal::Executable(request, device), context_(std::move(context)) {}
  Status adopt(const SpirvModule& module, const SpirvEntryPoint& found, const EntryPoint* expected,
               const Pipeline::Request& request);

  const Ref<Context> context_;
  std::vector<Ref<Pipeline>> pipelines_;
  std::vector<AccessCheck> access_checks_;
};

// "vulkan-spirv-fb", as programs say it, and "spirv".
bool is_spirv_format(std::string_view format);

}  // namespace baton::hal::drivers::vulkan
