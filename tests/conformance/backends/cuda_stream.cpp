// cuda-stream: the machine's GPU, command by command, on four streams.
#include "tests/conformance/backends/cuda.hpp"

namespace baton::hal::conformance {
namespace {

Result<Ref<Device>> open() { return open_cuda("stream", "4"); }

[[maybe_unused]] const bool registered = register_backend(
    {.name = "cuda-stream", .open = open, .kernels = cuda_kernels(), .unsupported = cuda_unsupported()});

}  // namespace
}  // namespace baton::hal::conformance
