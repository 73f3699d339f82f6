// KernelCode on CUDA: kernels launched with cuLaunchKernelEx on streams that the caller brings, its captures included.
//
// The code belongs to no context; what a kernel is on one device (its attributes, how much shared memory it was
// allowed) is found out when it is first launched there, in the device's primary context, and then read without a lock.
// A launch that needs nothing new checks sizes and limits and calls the driver: 20 ns beside the call itself.
//
// Code that was launched stays loaded when its last owner goes: a stream or a graph of the caller's may still run it,
// and nobody could tell. unload() is for those who know.
// Threads: internally synchronized.
#pragma once

#include <map>
#include <mutex>

#include "hal/drivers/cuda/code_library.hpp"
#include "hal/kernel_code.hpp"

namespace baton::hal::drivers::cuda {

class KernelCode;

// A kernel on one device.
// Threads: immutable, but for what it may have of shared memory.
struct KernelOnDevice {
  Ref<PrimaryContext> context;
  CUkernel handle = nullptr;
  uint64_t threads_max = 0;                       // Of one block.
  uint64_t static_shared_bytes = 0;               // What the code takes by itself.
  std::atomic<uint64_t> shared_bytes_allowed{0};  // Written under the mutex.
  std::mutex mutex;
};

class LaunchableKernel final : public hal::LaunchableKernel {
 public:
  LaunchableKernel(KernelCode& code, std::string_view name, std::vector<CodeParameter> layout, size_t device_count);
  ~LaunchableKernel() override;

  Status launch(const KernelLaunch& launch, std::span<const KernelArgument> arguments) override;
  Result<KernelOccupancy> occupancy(int32_t ordinal, uint32_t threads, uint32_t local_memory_bytes) override;
  // For code that is unloaded while no thread launches.
  void forget_devices();

 private:
  bool fits(std::span<const KernelArgument> arguments) const;
  Status refuse(std::span<const KernelArgument> arguments) const;
  KernelOnDevice* known_device(int32_t ordinal) const;
  Result<KernelOnDevice*> find_device(const KernelLaunch& launch);
  Result<KernelOnDevice*> on_device(int32_t ordinal);
  Status check(const KernelLaunch& launch, KernelOnDevice& here) const;
  Status launch_with_scratch(const KernelLaunch& launch, std::span<const KernelArgument> arguments);
  Status allow_shared(const KernelLaunch& launch, KernelOnDevice& here) const;

  KernelCode& code_;
  const std::vector<CodeParameter> layout_;
  std::vector<std::atomic<KernelOnDevice*>> devices_;  // Owned; null until it is launched there.
};

class KernelCode final : public hal::KernelCode {
 public:
  static Result<Ref<hal::KernelCode>> make(std::shared_ptr<const Symbols> symbols, const KernelCodeRequest& request);
  ~KernelCode() override;

  Result<hal::LaunchableKernel*> find(std::string_view name) override;
  Result<KernelGlobal> global(int32_t ordinal, std::string_view name) override;
  Status unload() override;

  const std::string& name() const { return name_; }
  const Symbols& symbols() const { return *symbols_; }
  size_t device_count() const { return devices_.size(); }
  void note_launch() {
    if (!launched_.load(std::memory_order_relaxed)) launched_.store(true, std::memory_order_relaxed);
  }
  // The device that work on this stream runs on.
  Result<int32_t> ordinal_of(uint64_t stream);
  // A kernel as it is on a device, loading the code there.
  Result<std::unique_ptr<KernelOnDevice>> prepare(int32_t ordinal, std::string_view kernel);

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  KernelCode(std::shared_ptr<const Symbols> symbols, const KernelCodeRequest& request, size_t device_count);

  struct Variant {
    std::string format;
    std::span<const std::byte> data;
    std::unique_ptr<CodeLibrary> library;  // Once a device took it.
  };
  struct OnDevice {
    Ref<PrimaryContext> context;
    CodeLibrary* library = nullptr;
  };
  // Under the mutex.
  Result<OnDevice*> open(int32_t ordinal);
  Result<OnDevice*> open_any();
  Result<CodeLibrary*> load(PrimaryContext& context);

  const std::shared_ptr<const Symbols> symbols_;
  const std::string name_;
  const Ref<ExecutableData> data_;
  std::mutex mutex_;
  std::vector<OnDevice> devices_;  // Guarded by mutex_.
  std::vector<Variant> variants_;  // Guarded by mutex_; after the contexts, so that they go first.
  std::map<std::string, std::unique_ptr<LaunchableKernel>, std::less<>> kernels_;  // Guarded by mutex_.
  std::atomic<bool> launched_{false};
};

}  // namespace baton::hal::drivers::cuda
