// PrimaryContext: a CUDA device opened for use: its primary context, the entries to call it with, its facts, its end.
//
// Streams, memory, marks and code share it and keep it; the device of the HAL stands on top. Once a kernel breaks the
// context (an illegal address, a failed assertion), CUDA refuses everything in it: the loss is kept here, once, and
// everyone who asks hears of it.
// Threads: internally synchronized.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "base/ref.hpp"
#include "hal/drivers/cuda/context_scope.hpp"
#include "hal/drivers/cuda/status.hpp"

namespace baton::hal::drivers::cuda {

class WorkListener;  // work_listener.hpp

struct DeviceFacts {
  std::string name;
  std::array<uint8_t, 16> uuid;
  uint64_t memory_bytes = 0;
  int driver_version = 0;
  int major = 0;  // Compute capability.
  int minor = 0;
  int multiprocessors = 0;
  int threads_per_block_max = 0;
  int block_max[3] = {};
  int grid_max[3] = {};
  int shared_bytes_max = 0;  // What a kernel may opt in to.
  int subgroup_size = 0;     // Threads of a warp.
  int l2_bytes = 0;
  int clock_khz = 0;  // The highest one.
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  bool memory_pools = false;
  bool cooperative = false;
  bool clusters = false;

  int arch() const { return 10 * major + minor; }
  // What the device could do at best: bytes of its memory, and additions and products of f32 outside of tensor cores. 0 where
  // the driver does not tell, or the architecture is not known here.
  int64_t peak_bytes_per_second() const;
  int64_t peak_f32_flops_per_second() const;
  // "GPU-6b5a1c...".
  std::string uuid_text() const;
};

Result<DeviceFacts> ask_facts(const Symbols& symbols, CUdevice device);

// What every submission reads stands first.
class alignas(64) PrimaryContext final : public RefCounted<PrimaryContext> {
 public:
  static Result<Ref<PrimaryContext>> retain_device(std::shared_ptr<const Symbols> symbols, int ordinal);
  ~PrimaryContext();

  const Symbols& symbols() const { return *symbols_; }
  CUdevice device() const { return device_; }
  CUcontext handle() const { return handle_; }
  const DeviceFacts& facts() const { return facts_; }
  ContextScope enter() const { return ContextScope(*symbols_, handle_); }

  // Null: nobody traces the device. Set before anybody else has it.
  WorkListener* work_listener() const { return work_listener_.get(); }
  void set_work_listener(std::shared_ptr<WorkListener> listener) { work_listener_ = std::move(listener); }

  bool lost() const { return lost_.load(std::memory_order_acquire); }
  // Ok, or why the device is lost.
  Status check() const;
  // Turns a result into a status, and keeps the loss if it is one.
  Status status_of(CUresult result, const char* call);

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  PrimaryContext(std::shared_ptr<const Symbols> symbols, CUdevice device, CUcontext handle, DeviceFacts facts)
      : symbols_(std::move(symbols)), device_(device), handle_(handle), facts_(std::move(facts)) {}

  const std::shared_ptr<const Symbols> symbols_;
  const CUdevice device_;
  const CUcontext handle_;
  std::atomic<bool> lost_{false};
  std::shared_ptr<WorkListener> work_listener_;
  const DeviceFacts facts_;
  mutable std::mutex mutex_;
  Status loss_;  // Guarded by mutex_ until lost_ is set, immutable after.
};

}  // namespace baton::hal::drivers::cuda
