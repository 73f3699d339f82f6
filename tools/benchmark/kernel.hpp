// The benchmarks of one kernel: what it costs to load its code, to record a launch, to submit it, and to run it.
//
//   executable.load        bytes → an executable; on a GPU the driver's compiler is in it
//   <kernel>.record        a command buffer with one dispatch, finished
//   <kernel>.submit        handing the recording to the queue; its end is waited for off the clock
//   <kernel>               the same, waited for: what a caller sees
//   <kernel>/<n>           n dispatches in one recording, each after the one before; dispatch_ns is the share of one, in
//                          which submitting and waiting count little: the time that the device takes
//
// They are registered with Google Benchmark and borrow the kernel until they have run.
#pragma once

#include <string>
#include <vector>

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"
#include "hal/recording.hpp"

namespace baton::tools {

struct Kernel {
  Ref<hal::Device> device;
  std::string name;  // Of the executable, for messages.
  std::vector<hal::ExecutableVariant> variants;
  Ref<hal::Executable> executable;
  uint32_t entry_point = 0;
  std::string entry_point_name;
  uint32_t grid[3] = {1, 1, 1};
  std::vector<uint32_t> constants;
  std::vector<Ref<hal::BufferView>> bindings;
  uint64_t batch_size = 64;
};

// A recording of so many dispatches of the kernel, each after the one before.
Result<Ref<hal::Recording>> record(const Kernel& kernel, uint64_t dispatches);
// Executes it and waits.
Status execute(hal::Device& device, hal::Recording& recording);

void register_kernel(const Kernel& kernel);

}  // namespace baton::tools
