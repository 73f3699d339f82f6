#include "tests/conformance/backends/vulkan.hpp"
#include "tests/support/vulkan_validation.hpp"
#if BATON_HAS_VULKAN_KERNELS
#include "kernels_by_address_spv.hpp"
#include "kernels_by_descriptors_spv.hpp"
#endif

namespace baton::hal::conformance {

Result<Ref<Device>> open_vulkan() {
  auto device = testing_support::open_watched_vulkan();
  if (device.has_value() || device.error().code() != StatusCode::kUnavailable) return device;
  return failure(StatusCode::kUnavailable, "skipped: no Vulkan device (", device.error().message(), ")");
}

std::vector<ExecutableVariant> vulkan_kernels([[maybe_unused]] bool by_address) {
#if BATON_HAS_VULKAN_KERNELS
  const std::span<const unsigned char> code = by_address ? std::span<const unsigned char>(kernels_by_address_spv)
                                                         : std::span<const unsigned char>(kernels_by_descriptors_spv);
  return {{"spirv", std::as_bytes(code)}};
#else
  return {};
#endif
}

std::vector<Exemption> vulkan_unsupported() {
  std::vector<Exemption> list = {{"AFailingKernelFailsTheWork", "a shader returns nothing that could say no"}};
#if !BATON_HAS_VULKAN_KERNELS
  list.push_back({"", "built without glslangValidator and spirv-link: there are no kernels"});
#endif
  return list;
}

}  // namespace baton::hal::conformance
