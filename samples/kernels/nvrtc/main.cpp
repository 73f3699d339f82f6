// An app compiles a kernel from text, when it runs: nvrtc [--device=cuda]. NVRTC comes with the CUDA toolkit or with pip.
#include "samples/kernels/vectors.hpp"

using namespace vectors;

static constexpr const char* kSource = R"(
#include "factor.h"
extern "C" __global__ void scale_add(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] += FACTOR * x[i];
}
)";

static Status run(const std::string& uri) {
  BATON_ASSIGN_OR_RETURN(const Ref<Device> device, open(uri));
  Order order(*device);
  // For the first GPU, as nothing else is said. A second run finds it on disk, unless anything differs.
  BATON_ASSIGN_OR_RETURN(const KernelLibrary library,
                         KernelLibrary::compile(kSource, {.options = {"-use_fast_math"},
                                                          .headers = {{"factor.h", "#define FACTOR 3.0f\n"}}}));
  BATON_ASSIGN_OR_RETURN(const Ref<BufferView> x, upload(*device, {1, 2, 3, 4, 5, 6, 7, 8}));
  BATON_ASSIGN_OR_RETURN(const Ref<BufferView> y, upload(*device, std::vector<float>(8, 100)));
  BATON_ASSIGN_OR_RETURN(const LaunchTarget turn, order.next());
  BATON_OR_RETURN(library["scale_add"].launch({2}, {4}, turn, x, y, int32_t{8}));
  BATON_OR_RETURN(print("3 * x + 100", order, y));

  const auto wrong = KernelLibrary::compile("__global__ void wrong() { undeclared = 1; }");
  const std::string_view told = wrong.has_value() ? std::string_view("compiled") : wrong.error().message();
  std::printf("%s\n", told.find("undeclared") != told.npos ? "what is wrong is in the failure" : "another failure");
  return {};
}

int main(int argc, char** argv) { return finish(run(device_of(argc, argv))); }
