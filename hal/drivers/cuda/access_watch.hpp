// AccessWatch: what the kernels of a recording write down that check their accesses (hal/interface/access_checks.hpp). Each
// dispatch has a place of its own in pinned memory; behind all of them the host looks at the places, as a host call, and
// fails the execution with the first that was written.
//
// Executions of one recording that run at the same time share the places: one of them fails then, for all.
// Threads: as HostFunction; places are added while it is recorded.
#pragma once

#include "hal/drivers/common/access_checks.hpp"
#include "hal/drivers/cuda/memory.hpp"
#include "hal/host_function.hpp"

namespace baton::hal::drivers::cuda {

class Executable;

class AccessWatch final : public HostFunction {
 public:
  explicit AccessWatch(Memory& memory) : HostFunction("access checks"), memory_(&memory) {}
  ~AccessWatch() override;

  // The address of a place for one more dispatch; the recording keeps `executable`.
  Result<CUdeviceptr> add(const Executable& executable, uint32_t entry_point);
  Status call(const HostCallArguments&) override;

 private:
  struct Place {
    const Executable* executable;
    uint32_t entry_point;
    FailedAccess* written;
  };

  const Ref<Memory> memory_;
  std::vector<Block> blocks_;
  std::vector<Place> places_;
};

}  // namespace baton::hal::drivers::cuda
