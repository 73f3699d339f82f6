// A module whose commands are work of cuBLAS and cuFFT, and a kernel of its own as PTX. The program records them once;
// in a CUDA graph each is captured for the memory of a table and stands there between the kernels of the program. On
// a host the same commands compute by themselves.
#include <complex>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_libraries.hpp"
#include "kernels_elf.hpp"
#include "kernels_ptx.hpp"
#include "modules/sdk/module.hpp"

namespace {

using namespace baton::sdk;
using mixed::CudaLibraries;

// The libraries on one device; their handles belong to its context. Threads: internally synchronized.
class OnDevice {
 public:
  static Result<std::shared_ptr<OnDevice>> make(Device& device) {
    BATON_ASSIGN_OR_RETURN(const CudaLibraries libraries, CudaLibraries::open());
    BATON_ASSIGN_OR_RETURN(const int64_t context, device.query("cuda", "context"));
    auto made = std::make_shared<OnDevice>(libraries, reinterpret_cast<void*>(context));
    const Current current(*made);
    BATON_OR_RETURN(made->done("cublasCreate", libraries.blas_create(&made->blas_)));
    return made;
  }
  OnDevice(const CudaLibraries& libraries, void* context) : use_(libraries), context_(context) {}
  ~OnDevice() {
    const Current current(*this);
    if (blas_) use_.blas_destroy(blas_);
  }

  // cuBLAS would allocate while it is captured: each command brings its own memory to work in.
  struct Workspace {
    static constexpr size_t kBytes = size_t{32} << 20;
    ~Workspace() {
      const Current current(*of);
      of->use_.release(address);
    }
    std::shared_ptr<OnDevice> of;
    uint64_t address;
  };
  static Result<std::shared_ptr<Workspace>> make_workspace(std::shared_ptr<OnDevice> of) {
    const Current current(*of);
    uint64_t address = 0;
    BATON_OR_RETURN(of->done("cuMemAlloc", of->use_.allocate(&address, Workspace::kBytes)));
    return std::make_shared<Workspace>(std::move(of), address);
  }
  // c = a * b, n by n, row by row: which is b * a, column by column.
  Status gemm(const Workspace& workspace, void* stream, const float* a, const float* b, float* c, int n) {
    std::lock_guard lock(mutex_);  // A handle has one stream at a time.
    const float one = 1, zero = 0;
    BATON_OR_RETURN(done("cublasSetStream", use_.blas_set_stream(blas_, stream)));
    BATON_OR_RETURN(done("cublasSetWorkspace",
                         use_.blas_set_workspace(blas_, reinterpret_cast<void*>(workspace.address), workspace.kBytes)));
    return done("cublasSgemm", use_.blas_sgemm(blas_, 0, 0, n, n, n, &one, b, n, a, n, &zero, c, n));
  }

  struct Plan {
    ~Plan() {
      const Current current(*of);
      of->use_.fft_destroy(number);
    }
    std::shared_ptr<OnDevice> of;
    int number;
    std::mutex mutex;
  };
  static Result<std::shared_ptr<Plan>> make_plan(std::shared_ptr<OnDevice> of, int count) {
    const Current current(*of);
    int number = 0;
    BATON_OR_RETURN(of->done("cufftPlan1d", of->use_.fft_plan(&number, count, CudaLibraries::kComplexToComplex, 1)));
    auto plan = std::make_shared<Plan>();
    plan->of = std::move(of);
    plan->number = number;
    return plan;
  }
  Status fft(Plan& plan, void* stream, const float* from, float* to) {
    std::lock_guard lock(plan.mutex);
    BATON_OR_RETURN(done("cufftSetStream", use_.fft_set_stream(plan.number, stream)));
    return done("cufftExecC2C", use_.fft_execute(plan.number, from, to, CudaLibraries::kForward));
  }

 private:
  // The device's context, current on this thread.
  struct Current {
    explicit Current(const OnDevice& device) : use(device.use_) { use.context_push(device.context_); }
    ~Current() {
      void* popped = nullptr;
      use.context_pop(&popped);
    }
    const CudaLibraries& use;
  };
  static Status done(const char* call, int code) {
    if (code == 0) return {};
    return failure(StatusCode::kInternal, call, " failed with ", code, ".");
  }

  const CudaLibraries use_;
  void* const context_;
  std::mutex mutex_;
  void* blas_ = nullptr;
};

void multiply(std::span<const float> a, std::span<const float> b, std::span<float> c, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      float sum = 0;
      for (size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
}

// Halves until one element is left; `count` is a power of two.
void transform(const std::complex<float>* from, size_t stride, std::complex<float>* to, size_t count) {
  if (count == 1) {
    *to = *from;
    return;
  }
  const size_t half = count / 2;
  transform(from, 2 * stride, to, half);
  transform(from + stride, 2 * stride, to + half, half);
  for (size_t i = 0; i < half; ++i) {
    const double angle = -2 * 3.14159265358979323846 * static_cast<double>(i) / static_cast<double>(count);
    const std::complex<float> turned = to[half + i] * std::complex<float>(std::polar(1.0, angle));
    to[half + i] = to[i] - turned;
    to[i] += turned;
  }
}

class Libraries final : public Module<Libraries> {
 public:
  // Whatever loads, allocates or builds: before anything is captured.
  Status prepare(Device& device) {
    const ExecutableVariant variants[] = {{"cuda-ptx-compute_75", std::as_bytes(std::span(kernels_sm_75))},
                                          {"embedded-elf-x86_64", std::as_bytes(std::span(kernels_x86_64))},
                                          {"embedded-elf-aarch64", std::as_bytes(std::span(kernels_aarch64))}};
    const EntryPoint entry_points[] = {{.name = "keep_real", .workgroup_size = {64, 1, 1}}};
    BATON_ASSIGN_OR_RETURN(Ref<Executable> code, device.make_executable("mixed", variants, {}, entry_points));
    BATON_ASSIGN_OR_RETURN(const uint32_t keep_real, code->entry_point("keep_real"));
    std::shared_ptr<OnDevice> libraries;
    if (device.driver() == Cuda::kDriver) {
      BATON_ASSIGN_OR_RETURN(libraries, OnDevice::make(device));
    }
    devices_.add(device, {std::move(code), keep_real, std::move(libraries)});
    return {};
  }

  // c = a * b; square.
  Status gemm(CommandBuffer& rec, Binding<const float> a, Binding<const float> b, Binding<float> c) {
    size_t n = 0;
    while (n * n < c.size()) ++n;
    if (n * n != c.size() || a.size() != c.size() || b.size() != c.size()) {
      return failure(StatusCode::kInvalidArgument, "gemm has ", a.size(), ", ", b.size(), " and ", c.size(),
                     " elements; they make no square matrices of one size.");
    }
    std::shared_ptr<OnDevice::Workspace> workspace;
    if (rec.is<Cuda>()) {
      BATON_ASSIGN_OR_RETURN(workspace, OnDevice::make_workspace(devices_[rec.device()].libraries));
    }
    return rec.foreign(
        [n, workspace](Foreign& here, DeviceSpan<const float> x, DeviceSpan<const float> y,
                       DeviceSpan<float> z) -> Status {
          if (!workspace) {
            multiply(x.host(), y.host(), z.host(), n);
            return {};
          }
          BATON_ASSIGN_OR_RETURN(const baton_cuda_stream on, here.cuda().stream());
          return workspace->of->gemm(*workspace, on.stream, x.data(), y.data(), z.data(), static_cast<int>(n));
        },
        a, b, c);
  }

  // y = the spectrum of x: pairs of numbers, real and imaginary.
  Status fft(CommandBuffer& rec, Binding<const float> x, Binding<float> y) {
    const size_t count = x.size() / 2;
    if (x.size() != y.size() || !std::has_single_bit(x.size()) || count == 0) {
      return failure(StatusCode::kInvalidArgument, "fft has ", x.size(), " and ", y.size(),
                     " elements; it takes a power of two of them.");
    }
    std::shared_ptr<OnDevice::Plan> plan;
    if (rec.is<Cuda>()) {
      BATON_ASSIGN_OR_RETURN(plan, OnDevice::make_plan(devices_[rec.device()].libraries, static_cast<int>(count)));
    }
    return rec.foreign(
        [count, plan](Foreign& here, DeviceSpan<const float> from, DeviceSpan<float> to) -> Status {
          if (!plan) {
            transform(reinterpret_cast<const std::complex<float>*>(from.host().data()), 1,
                      reinterpret_cast<std::complex<float>*>(to.host().data()), count);
            return {};
          }
          BATON_ASSIGN_OR_RETURN(const baton_cuda_stream on, here.cuda().stream());
          return plan->of->fft(*plan, on.stream, from.data(), to.data());
        },
        x, y);
  }

  // The imaginary parts of x become zero: the module's own kernel.
  Status keep_real(CommandBuffer& rec, Binding<float> x) {
    const PerDeviceState& device = devices_[rec.device()];
    const auto count = static_cast<uint32_t>(x.size());
    return rec.dispatch(*device.code, device.keep_real, Grid{(count + 63) / 64}, constants(count), {x});
  }

 private:
  struct PerDeviceState {
    Ref<Executable> code;
    uint32_t keep_real;
    std::shared_ptr<OnDevice> libraries;  // Null on a host.
  };
  PerDevice<PerDeviceState> devices_;
};

}  // namespace

BATON_EXPORT_MODULE(Libraries, "libraries",                                 //
                    BATON_COMMAND("gemm", &Libraries::gemm, kCaptureSafe),  //
                    BATON_COMMAND("fft", &Libraries::fft, kCaptureSafe),    //
                    BATON_COMMAND("keep_real", &Libraries::keep_real, kCaptureSafe | kInPlace));
