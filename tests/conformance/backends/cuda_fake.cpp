// The CUDA driver on the fake GPU of tests/support/fake_cuda.hpp: the translation into driver calls, run on the host;
// as graphs and on streams, on machines without a GPU.
#include "tests/conformance/backends/cuda.hpp"

namespace baton::hal::conformance {
namespace {

Result<Ref<Device>> open_graph() { return open_fake_cuda("graph", "1"); }
Result<Ref<Device>> open_stream() { return open_fake_cuda("stream", "4"); }
Result<Ref<Device>> open_auto() { return open_fake_cuda("auto", "2"); }

const std::vector<Exemption> unsupported = {
    {"AFailingKernelFailsTheWork", "a CUDA kernel returns nothing that could say no"}};

[[maybe_unused]] const bool graph_registered = register_backend(
    {.name = "fake-cuda-graph", .open = open_graph, .kernels = fake_cuda_kernels(), .unsupported = unsupported});
[[maybe_unused]] const bool stream_registered = register_backend(
    {.name = "fake-cuda-stream", .open = open_stream, .kernels = fake_cuda_kernels(), .unsupported = unsupported});
[[maybe_unused]] const bool auto_registered = register_backend(
    {.name = "fake-cuda-auto", .open = open_auto, .kernels = fake_cuda_kernels(), .unsupported = unsupported});

}  // namespace
}  // namespace baton::hal::conformance
