#include "hal/drivers/vulkan/builtins.hpp"

#include <algorithm>

#include "check_grid_spv.hpp"
#include "copy_spv.hpp"
#include "fill_spv.hpp"

namespace baton::hal::drivers::vulkan {

Result<Builtins> make_builtins(const Ref<Context>& context) {
  const auto make = [&](std::span<const unsigned char> code) {
    return Pipeline::make(
        context, {.code = std::make_shared<const PipelineCode>(std::as_bytes(code), std::span<const uint32_t>())});
  };
  Builtins builtins;
  BATON_TRY_ASSIGN(builtins.copy, make(copy_spv));
  BATON_TRY_ASSIGN(builtins.fill, make(fill_spv));
  BATON_TRY_ASSIGN(builtins.check_grid, make(check_grid_spv));
  return builtins;
}

// A thread moves sixteen bytes at a time, and more in turns where there is more.
uint32_t builtin_workgroups(uint64_t length) {
  constexpr uint64_t kBytesOfWorkgroup = 256 * 16, kWorkgroupsMax = 16384;
  return static_cast<uint32_t>(
      std::clamp<uint64_t>((length + kBytesOfWorkgroup - 1) / kBytesOfWorkgroup, 1, kWorkgroupsMax));
}

}  // namespace baton::hal::drivers::vulkan
