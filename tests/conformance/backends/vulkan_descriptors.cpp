// vulkan-descriptors: kernels as glslc makes them of most people's shaders: bindings of set 0 and push constants.
#include "tests/conformance/backends/vulkan.hpp"

namespace baton::hal::conformance {
namespace {

std::vector<Exemption> unsupported() {
  std::vector<Exemption> list = vulkan_unsupported();
  list.push_back({"ComputesWithEachTable",
                  "a descriptor's offset is a multiple of minStorageBufferOffsetAlignment; 40 bytes are none"});
  return list;
}

[[maybe_unused]] const bool registered = register_backend({.name = "vulkan-descriptors",
                                                           .open = open_vulkan,
                                                           .kernels = vulkan_kernels(false),
                                                           .unsupported = unsupported()});

}  // namespace
}  // namespace baton::hal::conformance
