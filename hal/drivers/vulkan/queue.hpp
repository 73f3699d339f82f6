// Queue: operations in the order of their semaphores, on the one queue of Vulkan.
//
// A recording without code of the host whose waits are reached, or promised by submissions of this device, is submitted
// at once by the thread that executes it: submissions run in order. Its signals are promised, and raised when the
// timeline tells that it is through. Otherwise the operation is deferred until its waits are reached. Recordings with host
// steps, and host calls, are run by the worker, step by step.
// Threads: internally synchronized.
#pragma once

#include "hal/drivers/common/operation_ledger.hpp"
#include "hal/drivers/vulkan/execution_clock.hpp"
#include "hal/drivers/vulkan/recording.hpp"
#include "hal/drivers/vulkan/semaphore.hpp"
#include "hal/drivers/vulkan/worker.hpp"
#include "hal/queue.hpp"

namespace baton::hal::drivers::vulkan {

class Queue final : public hal::Queue {
 public:
  Queue(Device& device, Ref<Timeline> timeline, Ref<Worker> worker);

  Status wait_idle(int64_t timeout_ns) override;
  Status time_executions(bool on) override { return clock_.turn(on); }
  ExecutionTimes take_execution_times() override { return clock_.take(); }

 private:
  class Operation;
  class ExecuteOperation;
  class HostCallOperation;
  class FreeOperation;
  class BarrierOperation;
  class Executed;
  class Passed;
  using Signals = std::span<const SemaphorePoint>;

  Status do_execute(const Order& order, hal::Recording& recording, const BindingTable& table) override;
  Result<Ref<hal::Buffer>> do_allocate(const Order& order, const AllocationRequest& request) override;
  Status do_free(const Order& order, hal::Buffer& buffer) override;
  Status do_host_call(const Order& order, HostFunction& function) override;
  Status do_barrier(const Order& order) override;

  // What the waits of an operation come to, here and now; kReady: behind submission `serial`, 0 if none.
  enum class Readiness { kReady, kLater, kFailed };
  Readiness look_at(std::span<const SemaphorePoint> waits, uint64_t& serial, Status& failed) const;

  // do_execute looks at what a table changed.
  Status check_table(const hal::Recording&, const BindingTable&) const override { return {}; }
  BindRequest request(const BindingTable& table, bool checked) const {
    return {table, checked, frees_.load(std::memory_order_acquire)};
  }
  // Each of them to its end. The waits are reached, or behind what was submitted. Only submit() returns why a table does
  // not fit; all else reaches the signals.
  Status submit(Recording& recording, const BindRequest& request, Signals signals);
  Status try_submit(Recording& recording, const BindRequest& request, Signals signals, Status& unfit);
  void run_steps(Recording& recording, const BindRequest& request, Signals signals);
  Status try_run_steps(Recording& recording, const BindRequest& request);
  // Both wait: the host's turn is next.
  Status run_foreign(const PreparedCommands& prepared, size_t step, ForeignSegments& called,
                     const Arguments& arguments);
  Status run_to_the_end(std::span<const VkCommandBuffer> commands);
  Status run_stretch(const Recording& recording, const PreparedCommands& prepared, size_t stretch);
  void pass(uint64_t serial, Signals signals);

  // Null: a semaphore of another device.
  Semaphore* own(hal::Semaphore* semaphore) const;
  bool all_own(Signals signals) const;
  void promise(Signals signals, uint64_t serial) const;

  const Ref<Timeline> timeline_;
  const Ref<Worker> worker_;
  ExecutionClock clock_;
  std::atomic<uint64_t> frees_{0};  // How many buffers were freed.
  OperationLedger ledger_;
};

}  // namespace baton::hal::drivers::vulkan
