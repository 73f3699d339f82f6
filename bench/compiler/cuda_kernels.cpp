// How fast the kernels are that the compiler makes for CUDA: bandwidth beside a copy on the device, products beside
// cuBLAS where there is one. Times are the GPU's own, of launches one after the other, medians.
//
//   cuda_kernels kernels.ptx kernels.launches kernels.grids
//
// baton-codegen writes the three files (CMakeLists.txt): the code, how its kernels are launched, and their grids.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace {

constexpr size_t kBufferBytes = size_t{256} << 20;  // Each binding; the mlir's tensors are no larger.
constexpr int kRounds = 15, kLaunches = 4;

// The driver's entries, opened when the program runs: it has to start where there is none.
struct Driver {
#define ENTRY(name) decltype(&::name) name
  ENTRY(cuInit);
  ENTRY(cuDeviceGet);
  ENTRY(cuDeviceGetName);
  ENTRY(cuDevicePrimaryCtxRetain);
  ENTRY(cuCtxSetCurrent);
  ENTRY(cuModuleLoadData);
  ENTRY(cuModuleGetFunction);
  ENTRY(cuFuncSetAttribute);
  ENTRY(cuMemAlloc);
  ENTRY(cuMemsetD32);
  ENTRY(cuMemcpyDtoDAsync);
  ENTRY(cuLaunchKernel);
  ENTRY(cuEventCreate);
  ENTRY(cuEventRecord);
  ENTRY(cuEventSynchronize);
  ENTRY(cuEventElapsedTime);
#undef ENTRY
};

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

bool open_driver(Driver& driver) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return false;
  // Through the macros of cuda.h, which name the newest version of each entry.
  const auto open = [library](auto& entry, const char* name) {
    entry = reinterpret_cast<std::decay_t<decltype(entry)>>(dlsym(library, name));
  };
#define ENTRY(name) open(driver.name, TEXT(name))
  ENTRY(cuInit);
  ENTRY(cuDeviceGet);
  ENTRY(cuDeviceGetName);
  ENTRY(cuDevicePrimaryCtxRetain);
  ENTRY(cuCtxSetCurrent);
  ENTRY(cuModuleLoadData);
  ENTRY(cuModuleGetFunction);
  ENTRY(cuFuncSetAttribute);
  ENTRY(cuMemAlloc);
  ENTRY(cuMemsetD32);
  ENTRY(cuMemcpyDtoDAsync);
  ENTRY(cuLaunchKernel);
  ENTRY(cuEventCreate);
  ENTRY(cuEventRecord);
  ENTRY(cuEventSynchronize);
  ENTRY(cuEventElapsedTime);
#undef ENTRY
  return driver.cuInit && driver.cuInit(0) == CUDA_SUCCESS;
}

void expect(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: CUDA error %d\n", what, static_cast<int>(result));
  std::exit(1);
}

struct Kernel {
  std::string name;
  unsigned bindings = 0, block[3] = {}, grid[3] = {1, 1, 1}, shared = 0;
  CUfunction function = nullptr;
};

std::vector<Kernel> read_kernels(const char* launches, const char* grids) {
  std::vector<Kernel> kernels;
  std::ifstream file(launches);
  Kernel kernel;
  unsigned constants = 0;
  while (file >> kernel.name >> constants >> kernel.bindings >> kernel.block[0] >> kernel.block[1] >> kernel.block[2] >>
         kernel.shared) {
    kernels.push_back(kernel);
  }
  std::ifstream text(grids);
  std::string line, name;
  while (std::getline(text, line)) {
    if (!line.empty() && line[0] != ' ') name = line;
    const size_t arrow = line.find("-> (");
    if (line.rfind("  grid", 0) != 0 || arrow == std::string::npos) continue;
    for (Kernel& each : kernels) {
      if (each.name != name) continue;
      std::sscanf(line.c_str() + arrow, "-> (%u, %u, %u)", &each.grid[0], &each.grid[1], &each.grid[2]);
    }
  }
  return kernels;
}

class Bench {
 public:
  explicit Bench(const Driver& driver) : cuda_(driver) {
    CUdevice device = 0;
    expect(cuda_.cuDeviceGet(&device, 0), "cuDeviceGet");
    char name[100] = "";
    cuda_.cuDeviceGetName(name, sizeof(name), device);
    std::printf("%s\n", name);
    CUcontext context = nullptr;
    expect(cuda_.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    expect(cuda_.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (CUdeviceptr& buffer : buffers_) {
      expect(cuda_.cuMemAlloc(&buffer, kBufferBytes), "cuMemAlloc");
      expect(cuda_.cuMemsetD32(buffer, 0x3c003c00, kBufferBytes / 4), "cuMemsetD32");  // 1.0 as f16, small as f32.
    }
    for (CUevent& event : events_) expect(cuda_.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
  }

  void load(const std::string& ptx, std::vector<Kernel>& kernels) {
    CUmodule module = nullptr;
    expect(cuda_.cuModuleLoadData(&module, ptx.c_str()), "cuModuleLoadData");
    for (Kernel& kernel : kernels) {
      expect(cuda_.cuModuleGetFunction(&kernel.function, module, kernel.name.c_str()), kernel.name.c_str());
      if (kernel.shared == 0) continue;
      expect(cuda_.cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(kernel.shared)),
             "cuFuncSetAttribute");
    }
  }

  // Microseconds of one `work`, of which each round issues several.
  template <typename Work>
  double time(Work work) {
    std::vector<double> samples;
    for (int round = -2; round < kRounds; ++round) {
      cuda_.cuEventRecord(events_[0], nullptr);
      for (int i = 0; i < kLaunches; ++i) work();
      cuda_.cuEventRecord(events_[1], nullptr);
      expect(cuda_.cuEventSynchronize(events_[1]), "cuEventSynchronize");
      float milliseconds = 0;
      cuda_.cuEventElapsedTime(&milliseconds, events_[0], events_[1]);
      if (round >= 0) samples.push_back(1e3 * static_cast<double>(milliseconds) / kLaunches);
    }
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
  }

  double time_copy() {
    return time(
        [&] { expect(cuda_.cuMemcpyDtoDAsync(buffers_[0], buffers_[1], kBufferBytes, nullptr), "cuMemcpyDtoDAsync"); });
  }

  double time_kernel(const Kernel& kernel) {
    void* arguments[3];
    for (size_t i = 0; i < 3; ++i) arguments[i] = &buffers_[i];
    return time([&] {
      expect(cuda_.cuLaunchKernel(kernel.function, kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0],
                                  kernel.block[1], kernel.block[2], kernel.shared, nullptr, arguments, nullptr),
             kernel.name.c_str());
    });
  }

  CUdeviceptr buffer(size_t i) const { return buffers_[i]; }

 private:
  const Driver& cuda_;
  CUdeviceptr buffers_[3] = {};
  CUevent events_[2] = {};
};

// cublasSgemm of C = A * B with rows one after the other; or nothing where there is no cuBLAS.
class Blas {
 public:
  Blas() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      if (!library_) library_ = dlopen(name, RTLD_NOW);
    }
    if (!library_) return;
    const auto create = reinterpret_cast<int (*)(void**)>(dlsym(library_, "cublasCreate_v2"));
    multiply_ = reinterpret_cast<Multiply>(dlsym(library_, "cublasSgemm_v2"));
    if (!create || create(&handle_) != 0) multiply_ = nullptr;
  }
  explicit operator bool() const { return multiply_ != nullptr; }

  void multiply(int n, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) const {
    const float one = 1, zero = 0;
    multiply_(handle_, 0, 0, n, n, n, &one, b, n, a, n, &zero, c, n);
  }

 private:
  using Multiply = int (*)(void*, int, int, int, int, int, const float*, CUdeviceptr, int, CUdeviceptr, int,
                           const float*, CUdeviceptr, int);
  void* library_ = nullptr;
  void* handle_ = nullptr;
  Multiply multiply_ = nullptr;
};

// Bytes that a kernel has to read and write.
double bytes_of(const std::string& name) {
  const double full = static_cast<double>(kBufferBytes);
  if (name == "add" || name == "exp_chain") return 3 * full;
  if (name == "scale_half" || name == "tanh" || name == "bias" || name == "transpose" || name == "softmax")
    return 2 * full;
  return full;  // Sums.
}

std::string read_file(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "cuda_kernels kernels.ptx kernels.launches kernels.grids\n"), 2;
  Driver driver = {};
  if (!open_driver(driver)) return std::printf("skipped: no CUDA device\n"), 0;
  std::vector<Kernel> kernels = read_kernels(argv[2], argv[3]);
  Bench bench(driver);
  bench.load(read_file(argv[1]), kernels);
  const double copy_rate = 2 * static_cast<double>(kBufferBytes) / bench.time_copy() / 1e3;
  std::printf("| %-16s | %10s | %8s | %7s |\n|---|---|---|---|\n", "kernel", "us", "GB/s", "of copy");
  std::printf("| %-16s | %10s | %8.0f | %7.2f |\n", "copy", "", copy_rate, 1.0);
  for (const Kernel& kernel : kernels) {
    if (kernel.name.rfind("product", 0) == 0) continue;
    const double us = bench.time_kernel(kernel);
    const double rate = bytes_of(kernel.name) / us / 1e3;
    std::printf("| %-16s | %10.1f | %8.0f | %7.2f |\n", kernel.name.c_str(), us, rate, rate / copy_rate);
    std::fflush(stdout);
  }
  const Blas blas;
  std::printf("\n| %-16s | %10s | %8s | %9s |\n|---|---|---|---|\n", "product, f32", "us", "TFLOP/s", "of cuBLAS");
  for (const Kernel& kernel : kernels) {
    int n = 0;
    if (std::sscanf(kernel.name.c_str(), "product_%d", &n) != 1) continue;
    const double us = bench.time_kernel(kernel);
    const double work = 2.0 * n * n * n;
    double theirs = 0;
    if (blas) theirs = bench.time([&] { blas.multiply(n, bench.buffer(0), bench.buffer(1), bench.buffer(2)); });
    std::printf("| %-16s | %10.1f | %8.1f | %9.2f |\n", kernel.name.c_str(), us, work / us / 1e6, theirs / us);
  }
  if (!blas) std::printf("no cuBLAS\n");
  return 0;
}
