// What tests of KernelLibrary on the fake GPU share: its drivers, kernels with parameters of every kind, a stream.
#pragma once

#include <cstring>

#include "base/bytes.hpp"
#include "hal/drivers/cuda/driver.hpp"
#include "hal/drivers/cuda/symbols.hpp"
#include "hal/drivers/local/driver.hpp"
#include "modules/kernel_library/kernel_library.hpp"
#include "modules/sdk/embed_kernels.hpp"
#include "tests/support/fake_cuda.hpp"

namespace baton::modules {

using sdk::Dim3;
using sdk::LaunchShape;
using sdk::LaunchTarget;
using testing_support::fake_cuda;
using testing_support::FakeKernel;
using testing_support::FakeLaunch;

// A struct that a kernel takes by value.
struct alignas(16) Scaling {
  float factor;
  float offset;
  uint64_t count;
};

// y[i] = x[i] * scaling.factor + scaling.offset + bias, with the pointers behind and between numbers.
inline const FakeKernel kAffine = {"affine", {2, 8, 16, 8}, [](const FakeLaunch& launch) {
                                     const auto bias = load_bytes<int16_t>(launch.parameters);
                                     const auto* x = load_bytes<const float*>(launch.parameters + 8);
                                     const auto scaling = load_bytes<Scaling>(launch.parameters + 16);
                                     auto* y = load_bytes<float*>(launch.parameters + 32);
                                     for (uint64_t i = 0; i < scaling.count; ++i) {
                                       y[i] = x[i] * scaling.factor + scaling.offset + bias;
                                     }
                                   }};
inline const FakeKernel kEmpty = {"empty", {8, 8, 4}, [](const FakeLaunch&) {}};
inline const FakeKernel kBare = {"bare", {}, [](const FakeLaunch&) {}};

// The fake GPU, and how libraries find it.
class FakeGpu {
 public:
  explicit FakeGpu(int devices = 1) : symbols_(testing_support::make_fake_cuda()) {
    fake_cuda().device_count = devices;
    fake_cuda().kernels = testing_support::fake_conformance_kernels();
    for (const FakeKernel& kernel : {kAffine, kEmpty, kBare}) fake_cuda().kernels.push_back(kernel);
    auto drivers = std::make_shared<hal::DriverRegistry>();
    const Status cuda = drivers->add(hal::drivers::cuda::make_driver({symbols_}));
    const Status local = drivers->add(hal::drivers::local::make_driver());
    drivers_ = std::move(drivers);
  }

  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;
  ~FakeGpu() {
    for (const CUstream stream : streams_) symbols_->cuStreamDestroy(stream);
  }

  const hal::drivers::cuda::Symbols& symbols() const { return *symbols_; }
  const std::shared_ptr<const hal::DriverRegistry>& drivers() const { return drivers_; }
  Ref<hal::Device> open(std::string_view uri) const { return drivers_->open(uri).value(); }

  Result<Ref<KernelLibrary>> make(std::string_view code, std::string_view format = "cuda-ptx") const {
    const KernelVariant variant{format, std::as_bytes(std::span(code))};
    return KernelLibrary::make("kernels", {&variant, 1}, drivers_);
  }
  // As an app holds it.
  sdk::KernelLibrary library(std::string_view code, std::string_view format = "cuda-ptx") const {
    return sdk::KernelLibrary::adopt(reinterpret_cast<baton_kernel_library*>(make(code, format).value().detach()));
  }

  // Goes with the GPU.
  CUstream stream(int device = 0) {
    CUcontext context = nullptr;
    symbols_->cuDevicePrimaryCtxRetain(&context, device);
    symbols_->cuCtxPushCurrent(context);
    CUstream made = nullptr;
    symbols_->cuStreamCreateWithPriority(&made, 0, 0);
    symbols_->cuCtxPopCurrent(&context);
    return streams_.emplace_back(made);
  }

 private:
  std::shared_ptr<const hal::drivers::cuda::Symbols> symbols_;
  std::shared_ptr<const hal::DriverRegistry> drivers_;
  std::vector<CUstream> streams_;
};

// The machine's GPU, without a device of the HAL: a stream, and pinned memory that both sides see.
class RealGpu {
 public:
  static Result<std::unique_ptr<RealGpu>> open() {
    auto gpu = std::make_unique<RealGpu>();
    BATON_TRY_ASSIGN(gpu->symbols_, hal::drivers::cuda::load_symbols());
    auto drivers = std::make_shared<hal::DriverRegistry>();
    BATON_TRY(drivers->add(hal::drivers::cuda::make_driver({gpu->symbols_})));
    gpu->drivers_ = std::move(drivers);
    gpu->symbols_->cuDevicePrimaryCtxRetain(&gpu->context_, 0);
    gpu->symbols_->cuCtxPushCurrent(gpu->context_);
    gpu->symbols_->cuStreamCreateWithPriority(&gpu->stream_, CU_STREAM_NON_BLOCKING, 0);
    return gpu;
  }

  const hal::drivers::cuda::Symbols& symbols() const { return *symbols_; }
  const std::shared_ptr<const hal::DriverRegistry>& drivers() const { return drivers_; }
  CUstream stream() const { return stream_; }
  void wait() const { symbols_->cuStreamSynchronize(stream_); }
  template <typename T>
  T* memory(size_t count) const {
    void* bytes = nullptr;
    symbols_->cuMemHostAlloc(&bytes, count * sizeof(T), CU_MEMHOSTALLOC_PORTABLE);
    return static_cast<T*>(bytes);
  }
  sdk::KernelLibrary library(std::string_view code) const {
    const KernelVariant variant{{}, std::as_bytes(std::span(code))};
    Ref<KernelLibrary> made = KernelLibrary::make("kernels", {&variant, 1}, drivers_).value();
    return sdk::KernelLibrary::adopt(reinterpret_cast<baton_kernel_library*>(made.detach()));
  }

 private:
  std::shared_ptr<const hal::drivers::cuda::Symbols> symbols_;
  std::shared_ptr<const hal::DriverRegistry> drivers_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
};

// "NOT_FOUND: the sentence", or nothing.
inline std::string said(const sdk::Status& status) {
  return status.ok() ? ""
                     : std::string(status_code_name(static_cast<StatusCode>(status.code()))) + ": " +
                           std::string(status.message());
}
template <typename T>
std::string said(const sdk::Result<T>& result) {
  return result.has_value() ? "" : said(result.error());
}

}  // namespace baton::modules
