#include "hal/drivers/register_drivers.hpp"

namespace baton::hal::drivers {

namespace {

constexpr LeftOutDriver kLeftOut[] = {
#if !BATON_HAS_CUDA
    {"cuda", BATON_WITHOUT_CUDA},
#endif
    {"vulkan", "This version of Baton has no Vulkan driver."},
};

}  // namespace

std::span<const LeftOutDriver> left_out_drivers() { return kLeftOut; }

Status register_drivers(DriverRegistry& registry, DriverOptions options) {
  BATON_TRY(registry.add(local::make_driver(std::move(options.local))));
  BATON_TRY(registry.add(null::make_driver(std::move(options.null))));
#if BATON_HAS_CUDA
  BATON_TRY(registry.add(cuda::make_driver(std::move(options.cuda))));
#endif
  return {};
}

}  // namespace baton::hal::drivers
