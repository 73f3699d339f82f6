// What launching a kernel by KernelLibrary costs on top of cuLaunchKernelEx, in one process, taken in turns; nanoseconds of
// the caller's time, medians.
//
//   kernel_launch_bench [most]
//
// First with a driver whose launch does nothing, on any machine: all that is left is ours, and with `most` it fails where
// that is more. Then on the machine's GPU, where there is one. At the end what source costs that was compiled before, where
// the machine has NVRTC; that needs no GPU.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "hal/drivers/cuda/driver.hpp"
#include "hal/drivers/cuda/symbols.hpp"
#include "modules/kernel_library/cuda_compiler.hpp"
#include "modules/kernel_library/kernel_library.hpp"
#include "modules/sdk/embed_kernels.hpp"
#include "tests/support/embedded_ptx.hpp"
#include "tests/support/fake_cuda.hpp"

namespace baton::modules {
namespace {

using hal::drivers::cuda::Symbols;

constexpr int kBatch = 1000, kRounds = 101;

[[gnu::noinline]] CUresult launch_nothing(const CUlaunchConfig*, CUfunction, void**, void**) { return CUDA_SUCCESS; }

template <typename Launch>
double time_batch(const Launch& launch) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kBatch; ++i) launch();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kBatch;
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

struct Times {
  double raw;
  double ours;
};

[[noreturn]] void stop(std::string_view why) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(why.size()), why.data());
  std::exit(1);
}

Times measure(const std::shared_ptr<const Symbols>& symbols, std::string_view code, void* memory) {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  symbols->cuDevicePrimaryCtxRetain(&context, 0);
  symbols->cuCtxPushCurrent(context);
  symbols->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0);
  auto drivers = std::make_shared<hal::DriverRegistry>();
  if (Status added = drivers->add(hal::drivers::cuda::make_driver({symbols})); !added.ok()) stop(added.to_string());
  const KernelVariant variant{"cuda-ptx", std::as_bytes(std::span(code))};
  auto made = KernelLibrary::make("kernels", {&variant, 1}, std::move(drivers));
  auto found = (*made)->find("scale");
  if (!found) stop(found.error().to_string());
  const sdk::Kernel kernel(reinterpret_cast<const baton_library_kernel*>(*found));

  CUlibrary library = nullptr;
  CUkernel handle = nullptr;
  const std::string ptx(code);
  symbols->cuLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  symbols->cuLibraryGetKernel(&handle, library, "scale");
  auto* values = static_cast<uint32_t*>(memory);
  uint32_t count = 64, factor = 1;
  const auto raw = [&] {
    void* parameters[] = {&values, &count, &factor};
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 64;
    config.hStream = stream;
    if (symbols->cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(handle), parameters, nullptr) != CUDA_SUCCESS) {
      stop("cuLaunchKernelEx failed");
    }
  };
  const auto ours = [&] {
    if (const sdk::Status status = kernel.launch({1}, {64}, stream, values, count, factor); !status.ok()) {
      stop(status.message());
    }
  };
  std::vector<double> raw_times, our_times;
  for (int round = 0; round < kRounds; ++round) {
    raw_times.push_back(time_batch(raw));
    symbols->cuStreamSynchronize(stream);
    our_times.push_back(time_batch(ours));
    symbols->cuStreamSynchronize(stream);
  }
  return {median(raw_times), median(our_times)};
}

void print(const char* where, const Times& times) {
  std::printf("%-24s cuLaunchKernelEx %8.1f ns   KernelLibrary %8.1f ns   on top %6.1f ns   ratio %5.3f\n", where,
              times.raw, times.ours, times.ours - times.raw, times.ours / times.raw);
}

// Milliseconds of one compilation of a kernel as apps have them; less than nothing where there is no compiler.
double time_compilation(const CodeCache& cache) {
  constexpr std::string_view kSource = R"(
template <typename T> __device__ T mix(T a, T b, T t) { return a + (b - a) * t; }
extern "C" __global__ void blend(float* out, const float* a, const float* b, float t, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) out[i] = mix(a[i], b[i], t);
}
)";
  const auto begin = std::chrono::steady_clock::now();
  const auto code = compile_cuda({"blend.cu", kSource, "90"}, cache);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  if (code) return taken.count();
  std::printf("skipped: %s\n", code.error().to_string().c_str());
  return -1;
}

void measure_cache() {
  const std::string folder =
      (std::filesystem::temp_directory_path() / text("kernel_launch_bench.", ::getpid())).string();
  const CodeCache cache(folder);
  if (const double first = time_compilation(cache); first >= 0) {
    std::vector<double> again;
    for (int round = 0; round < kRounds; ++round) again.push_back(time_compilation(cache));
    std::printf("%-24s NVRTC %8.1f ms   from the cache %8.3f ms\n", "source, compiled again", first, median(again));
  }
  std::filesystem::remove_all(folder);
}

int run(double most) {
  const auto fake = testing_support::make_fake_cuda();
  testing_support::fake_cuda().kernels = testing_support::fake_conformance_kernels();
  auto empty = std::make_shared<Symbols>(*fake);
  empty->cuLaunchKernelEx = launch_nothing;
  uint32_t memory[64] = {};
  const Times nothing = measure(empty, "scale", memory);
  print("a launch of nothing", nothing);

  const auto real = hal::drivers::cuda::load_symbols();
  if (!real || testing_support::conformance_ptx().empty()) {
    std::printf("skipped: %s\n", real ? "nvcc was missing when this was built" : real.error().to_string().c_str());
  } else {
    CUcontext context = nullptr;
    void* pinned = nullptr;
    (*real)->cuDevicePrimaryCtxRetain(&context, 0);
    (*real)->cuCtxPushCurrent(context);
    (*real)->cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE);
    print("the GPU", measure(*real, testing_support::conformance_ptx(), pinned));
  }
  measure_cache();
  return most > 0 && nothing.ours - nothing.raw > most ? 1 : 0;
}

}  // namespace
}  // namespace baton::modules

int main(int argc, char** argv) { return baton::modules::run(argc > 1 ? std::atof(argv[1]) : 0); }
