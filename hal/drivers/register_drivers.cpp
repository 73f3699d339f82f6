#include "hal/drivers/register_drivers.hpp"

namespace baton::hal::drivers {

namespace {

// An array has at least one element; the span leaves the last one out.
constexpr LeftOutDriver kLeftOut[] = {
#if !BATON_HAS_CUDA
    {"cuda", BATON_WITHOUT_CUDA},
#endif
#if !BATON_HAS_VULKAN
    {"vulkan", BATON_WITHOUT_VULKAN},
#endif
    {"", ""},
};

}  // namespace

std::span<const LeftOutDriver> left_out_drivers() { return std::span(kLeftOut).first(std::size(kLeftOut) - 1); }

Status register_drivers(DriverRegistry& registry, DriverOptions options) {
  BATON_TRY(registry.add(local::make_driver(std::move(options.local))));
  BATON_TRY(registry.add(null::make_driver(std::move(options.null))));
#if BATON_HAS_CUDA
  BATON_TRY(registry.add(cuda::make_driver(std::move(options.cuda))));
#endif
#if BATON_HAS_VULKAN
  BATON_TRY(registry.add(vulkan::make_driver(std::move(options.vulkan))));
#endif
  return {};
}

}  // namespace baton::hal::drivers
