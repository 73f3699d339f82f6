// How fast the kernels are that the compiler makes for CUDA: bandwidth beside a copy on the device, products beside
// cuBLAS where there is one. Times are the GPU's own, of launches one after the other, medians.
//
//   cuda_kernels kernels.ptx kernels.launches kernels.grids [others.ptx ...]
//
// baton-codegen writes the three files (CMakeLists.txt): the code, how its kernels are launched, and their grids.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
    multiply_halves_ = reinterpret_cast<MultiplyHalves>(dlsym(library_, "cublasGemmEx"));
    if (!create || create(&handle_) != 0) multiply_ = nullptr;
  }
  explicit operator bool() const { return multiply_ != nullptr && multiply_halves_ != nullptr; }

  void multiply(int n, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) const {
    const float one = 1, zero = 0;
    multiply_(handle_, 0, 0, n, n, n, &one, b, n, a, n, &zero, c, n);
  }
  // cublasGemmEx with sums in f32; `turned`: the second matrix has its rows where the first one has its columns.
  void multiply_halves(int n, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, const std::string& name) const {
    const float one = 1, zero = 0;
    const int f16 = 2, f32 = 0, bf16 = 14, sums_in_f32 = 68, any_way = -1;  // cudaDataType, cublasComputeType_t.
    const bool turned = name.find("turned") != std::string::npos;
    const int element = name[0] == 'b' ? bf16 : f16, result = name.find("f32") != std::string::npos ? f32 : element;
    multiply_halves_(handle_, turned ? 1 : 0, 0, n, n, n, &one, b, element, n, a, element, n, &zero, c, result, n,
                     sums_in_f32, any_way);
  }

 private:
  using Multiply = int (*)(void*, int, int, int, int, int, const float*, CUdeviceptr, int, CUdeviceptr, int,
                           const float*, CUdeviceptr, int);
  using MultiplyHalves = int (*)(void*, int, int, int, int, int, const float*, CUdeviceptr, int, int, CUdeviceptr, int,
                                 int, const float*, CUdeviceptr, int, int, int, int);
  void* library_ = nullptr;
  void* handle_ = nullptr;
  Multiply multiply_ = nullptr;
  MultiplyHalves multiply_halves_ = nullptr;
};

// Bytes that a kernel has to read and write.
double bytes_of(const std::string& name) {
  const double full = static_cast<double>(kBufferBytes);
  if (name == "add" || name == "exp_chain") return 3 * full;
  for (const char* reading : {"row_sums", "short_row_sums", "column_sums", "sum", "matvec", "vecmat"}) {
    if (name == reading) return full;
  }
  return 2 * full;
}

// The size of a product by the name of its kernel, "product_1024"; 0: it is none.
int size_of_product(const std::string& name, const char* kind) {
  int n = 0;
  const size_t at = name.find(kind);
  return at != std::string::npos && at <= 1 && std::sscanf(name.c_str() + at + std::strlen(kind), "%d", &n) == 1 ? n
                                                                                                                 : 0;
}

// One table: our kernels, and what `theirs` takes for the same.
template <typename Theirs>
void print_products(Bench& bench, const std::vector<Kernel>& kernels, const char* title, const char* kind,
                    Theirs theirs) {
  std::printf("\n| %-16s | %10s | %8s | %9s |\n|---|---|---|---|\n", title, "us", "TFLOP/s", "of cuBLAS");
  for (const Kernel& kernel : kernels) {
    const int n = size_of_product(kernel.name, kind);
    if (n == 0) continue;
    const double us = bench.time_kernel(kernel), work = 2.0 * n * n * n;
    std::printf("| %-16s | %10.1f | %8.1f | %9.2f |\n", kernel.name.c_str(), us, work / us / 1e6,
                theirs(n, kernel.name) / us);
    std::fflush(stdout);
  }
}

std::string read_file(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc % 3 != 1) {
    return std::fprintf(stderr, "cuda_kernels kernels.ptx kernels.launches kernels.grids [others.ptx ...]\n"), 2;
  }
  Driver driver = {};
  if (!open_driver(driver)) return std::printf("skipped: no CUDA device\n"), 0;
  Bench bench(driver);
  std::vector<Kernel> kernels;
  for (int i = 1; i < argc; i += 3) {
    std::vector<Kernel> some = read_kernels(argv[i + 1], argv[i + 2]);
    bench.load(read_file(argv[i]), some);
    kernels.insert(kernels.end(), some.begin(), some.end());
  }
  const double copy_rate = 2 * static_cast<double>(kBufferBytes) / bench.time_copy() / 1e3;
  std::printf("| %-16s | %10s | %8s | %7s |\n|---|---|---|---|\n", "kernel", "us", "GB/s", "of copy");
  std::printf("| %-16s | %10s | %8.0f | %7.2f |\n", "copy", "", copy_rate, 1.0);
  for (const Kernel& kernel : kernels) {
    if (size_of_product(kernel.name, "product_") || size_of_product(kernel.name, "half_")) continue;
    const double us = bench.time_kernel(kernel);
    const double rate = bytes_of(kernel.name) / us / 1e3;
    std::printf("| %-16s | %10.1f | %8.0f | %7.2f |\n", kernel.name.c_str(), us, rate, rate / copy_rate);
    std::fflush(stdout);
  }
  const Blas blas;
  const CUdeviceptr a = bench.buffer(0), b = bench.buffer(1), c = bench.buffer(2);
  print_products(bench, kernels, "product, f32", "product_", [&](int n, const std::string&) {
    return blas ? bench.time([&] { blas.multiply(n, a, b, c); }) : 0.0;
  });
  print_products(bench, kernels, "product, halves", "half_", [&](int n, const std::string& name) {
    return blas ? bench.time([&] { blas.multiply_halves(n, a, b, c, name); }) : 0.0;
  });
  if (!blas) std::printf("no cuBLAS\n");
  return 0;
}
