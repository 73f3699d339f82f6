// cuda: the machine's GPU, every recording as a graph.
#include "tests/conformance/backends/cuda.hpp"

namespace baton::hal::conformance {
namespace {

Result<Ref<Device>> open() { return open_cuda("graph", "1"); }

[[maybe_unused]] const bool registered =
    register_backend({.name = "cuda", .open = open, .kernels = cuda_kernels(), .unsupported = cuda_unsupported()});

}  // namespace
}  // namespace baton::hal::conformance
