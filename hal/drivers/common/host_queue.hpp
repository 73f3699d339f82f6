// HostQueue: the order of operations for every driver whose queue runs on the host.
//
// An operation whose waits are reached runs at once and costs no allocation. Otherwise it is deferred, and the
// thread that signals its last wait hands it to schedule(). The default runs it there and then; a driver with workers
// gives it to them.
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <mutex>

#include "hal/drivers/common/operation_ledger.hpp"
#include "hal/drivers/common/task.hpp"
#include "hal/queue.hpp"

namespace baton::hal {

class HostQueue : public Queue {
 public:
  using Task = hal::Task;

  Status wait_idle(int64_t timeout_ns) override;
  // By the host's clock.
  Status time_executions(bool on) override;
  ExecutionTimes take_execution_times() override;

 protected:
  // Without workers a ready operation runs inside the call that submits it.
  explicit HostQueue(Device& device, bool has_workers = false) : Queue(device), has_workers_(has_workers) {}
  void conclude(std::span<const SemaphorePoint> signals, const Status& result) { ledger_.conclude(signals, result); }
  // Has a task run that is ready: in turn on this thread, where the driver knows no better.
  virtual void schedule(Task& task);

 private:
  class Operation;
  class ExecuteOperation;
  class HostCallOperation;
  class FreeOperation;
  class BarrierOperation;

  // Runs the commands on this thread and returns their first failure. The table fits the recording.
  virtual Status run_recording(Recording& recording, const BindingTable& table) = 0;
  // With workers: whether the call that submits `recording`, which is ready, runs it itself.
  virtual bool runs_inline(const Recording&) const { return false; }
  // Whether `recording` may run on a thread that waits, which has `left_ns` for it.
  virtual bool runs_on_waiter(const Recording&, int64_t) const { return false; }
  // Works for the device on the thread that waits for the queue; null when nothing does.
  virtual WaitHelper* wait_helper() { return nullptr; }
  // Concludes what a deferred operation signals; the thread has nothing else to do afterwards.
  virtual void conclude_deferred(std::span<const SemaphorePoint> signals, const Status& result) {
    conclude(signals, result);
  }
  virtual Status call(HostFunction& function);

  Status do_execute(const Order& order, Recording& recording, const BindingTable& table) override;
  Result<Ref<Buffer>> do_allocate(const Order& order, const AllocationRequest& request) override;
  Status do_free(const Order& order, Buffer& buffer) override;
  Status do_host_call(const Order& order, HostFunction& function) override;
  Status do_barrier(const Order& order) override;

  Status run(Recording& recording, const BindingTable& table);

  const bool has_workers_;
  OperationLedger ledger_;
  std::atomic<bool> timed_{false};
  std::mutex mutex_;
  ExecutionTimes times_;  // Guarded by mutex_.
};

}  // namespace baton::hal
