// Kernel: one kernel of a library, and the three ways to run it: on a stream, on a device's queue, in a recording.
//
// On a stream it is hal::LaunchableKernel. For a queue or a recording the library's code becomes an executable of that
// device for this kernel alone, made for the shape of the launch (workgroup, shared memory, which parameters are
// bindings) and kept for the next with the same.
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "hal/device.hpp"
#include "hal/kernel_code.hpp"
#include "modules/sdk/kernel_library.h"

namespace baton::modules {

class KernelLibrary;

// How kernels of a compiler that brings its own launcher want to be launched; what a launch says is not looked at where
// they do.
struct KernelDefaults {
  static constexpr size_t kHiddenMax = 2;

  uint32_t block = 0;  // Threads; 0: the launch says all.
  uint32_t shared_bytes = 0;
  uint32_t cluster = 1;  // Workgroups of one program: the grid has as many times more.
  bool cooperative = false;
  bool early = false;
  uint32_t parameter_count = 0;  // The user's; behind them come hidden pointers.
  uint32_t hidden_pointers = 0;
  uint32_t scratch_bytes[kHiddenMax] = {};  // That each of them wants for each workgroup.
};

class Kernel {
 public:
  Kernel(KernelLibrary& library, std::string_view name, const KernelDefaults& defaults)
      : library_(library), name_(name), defaults_(defaults) {}

  const std::string& name() const { return name_; }

  using Arguments = std::span<const baton_kernel_argument>;
  Status launch(const baton_kernel_launch& launch, Arguments arguments) {
    if (defaults_.block != 0) [[unlikely]]
      return launch_filled(launch, arguments);
    return launch.flags & BATON_KERNEL_ON_STREAM ? launch_on_stream(launch, arguments, {})
                                                 : launch_on_queue(launch, arguments);
  }
  Status record(baton_command_buffer* commands, const baton_kernel_launch& launch, Arguments arguments);
  // As CUDA's driver has it. UNIMPLEMENTED for code that is not for CUDA.
  Result<hal::LaunchableKernel*> launchable() {
    if (hal::LaunchableKernel* known = launchable_.load(std::memory_order_acquire)) [[likely]]
      return known;
    return find_launchable();
  }

 private:
  // What an executable was made for. The device is kept: another one could come to stand at its address.
  struct Prepared {
    Ref<hal::Device> device;
    hal::EntryPoint entry;
    Ref<hal::Executable> executable;
    uint32_t index = 0;
  };
  struct Entry {
    Ref<hal::Executable> executable;
    uint32_t index;
  };

  // A launch in the form that the kernel needs, with all its arguments, and which of them are scratch memory.
  struct Filled {
    baton_kernel_launch launch;
    std::vector<baton_kernel_argument> arguments;
    std::vector<hal::KernelScratch> scratch;
  };
  Result<Filled> fill_in(const baton_kernel_launch& launch, Arguments arguments) const;
  Result<uint64_t> scratch_bytes(const baton_kernel_launch& launch, uint32_t each) const;
  Status launch_filled(const baton_kernel_launch& launch, Arguments arguments);
  Status record_as_is(baton_command_buffer* commands, const baton_kernel_launch& launch, Arguments arguments);
  Status launch_on_stream(const baton_kernel_launch& launch, Arguments arguments,
                          std::span<const hal::KernelScratch> scratch);
  Status launch_on_queue(const baton_kernel_launch& launch, Arguments arguments);
  Result<hal::LaunchableKernel*> find_launchable();
  Result<Entry> prepare(hal::Device& device, const baton_kernel_launch& launch, Arguments arguments);

  KernelLibrary& library_;
  const std::string name_;
  const KernelDefaults defaults_;
  std::atomic<hal::LaunchableKernel*> launchable_{nullptr};
  std::mutex mutex_;
  std::vector<Prepared> prepared_;  // Guarded by mutex_; the one used last stands first.
};

}  // namespace baton::modules
