// KernelCode: device code that an app launches itself, on streams that it brings. KernelLibrary is made of it.
//
// A program's code is an Executable, launched by recorded commands. This is the other door to the same kernels: no
// device of the HAL, no recording; a kernel is found by name and launched with arguments in the order and the sizes
// that its own code declares. It is loaded once for each device, at the first launch there.
// Threads: internally synchronized.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ref.hpp"
#include "base/result.hpp"
#include "hal/executable.hpp"

namespace baton::hal {

// The bytes of one argument as the kernel takes it: a pointer of the device, a number, a struct.
struct KernelArgument {
  const void* data;
  uint64_t size;
};

// An argument that holds the address of memory that the launch allocates; the memory belongs to the kernel until it has
// ended.
struct KernelScratch {
  size_t argument = 0;
  uint64_t bytes = 0;
};

struct KernelLaunch {
  static constexpr int32_t kDeviceOfStream = -1;

  uint32_t grid[3] = {1, 1, 1};   // Workgroups.
  uint32_t block[3] = {1, 1, 1};  // Threads of one.
  uint32_t local_memory_bytes = 0;
  LaunchAttributes attributes = {};
  uint64_t stream = 0;                // As Queue::wait_for_stream says it.
  int32_t ordinal = kDeviceOfStream;  // The device.
  std::span<const KernelScratch> scratch = {};
};

struct KernelOccupancy {
  uint32_t workgroups_per_multiprocessor = 0;
  uint32_t multiprocessors = 0;
  uint32_t block_for_most = 0;  // The smallest workgroup that fills the device best; 0: not known.
};

struct KernelGlobal {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// One kernel. It lives as long as its code.
class LaunchableKernel {
 public:
  virtual ~LaunchableKernel() = default;

  const std::string& name() const { return name_; }
  // The parameters as the code declares them, in order.
  std::span<const KernelParameter> parameters() const { return parameters_; }

  virtual Status launch(const KernelLaunch& launch, std::span<const KernelArgument> arguments) = 0;
  virtual Result<KernelOccupancy> occupancy(int32_t ordinal, uint32_t threads, uint32_t local_memory_bytes) = 0;

 protected:
  explicit LaunchableKernel(std::string_view name) : name_(name) {}
  std::vector<KernelParameter> parameters_;  // Complete before the kernel is handed out.

 private:
  std::string name_;
};

struct KernelCodeRequest {
  std::string_view name = {};                        // For messages.
  std::span<const ExecutableVariant> variants = {};  // Each device takes the one that fits it best.
  Ref<ExecutableData> data = nullptr;                // Owns the bytes; null: the caller keeps them.
};

class KernelCode : public RefCounted<KernelCode> {
 public:
  virtual ~KernelCode() = default;

  // NOT_FOUND tells the nearest names. Found before: one look into a table.
  virtual Result<LaunchableKernel*> find(std::string_view name) = 0;
  // A variable of the code by its name, as it is on one device.
  virtual Result<KernelGlobal> global(int32_t ordinal, std::string_view name) = 0;
  // Waits for all that runs and takes the code off its devices. Who calls it knows that no graph holds its kernels and
  // no thread launches them any more.
  virtual Status unload() = 0;
};

}  // namespace baton::hal
