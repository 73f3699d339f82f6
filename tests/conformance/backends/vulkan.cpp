// vulkan: kernels by the address of their record, which is how the driver works throughout.
#include "tests/conformance/backends/vulkan.hpp"

namespace baton::hal::conformance {
namespace {

[[maybe_unused]] const bool registered = register_backend(
    {.name = "vulkan", .open = open_vulkan, .kernels = vulkan_kernels(true), .unsupported = vulkan_unsupported()});

}  // namespace
}  // namespace baton::hal::conformance
