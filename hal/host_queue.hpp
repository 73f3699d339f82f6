// HostQueue: the order of operations for every driver whose queue runs on the host.
//
// An operation whose waits are reached runs at once and costs no allocation. Otherwise it is kept, and whoever signals
// its last wait hands it to schedule(). The default runs it there and then; a driver with workers gives it to them.
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "hal/queue.hpp"
#include "hal/wait_helper.hpp"

namespace baton::hal {

class HostQueue : public Queue {
 public:
  // Something ready to run, once. It deletes itself.
  class Task {
   public:
    virtual ~Task() = default;
    virtual void run() = 0;
    // Whether a thread that waits for `awaited` may run it (wait_helper.hpp).
    virtual bool may_run_for(const Awaited&) const { return false; }
    Task* next = nullptr;  // For whoever queues it.
  };

  Status wait_idle(int64_t timeout_ns) override;
  // By the host's clock.
  Status time_executions(bool on) override;
  ExecutionTimes take_execution_times() override;

 protected:
  // Without workers a ready operation runs inside the call that submits it.
  explicit HostQueue(Device& device, bool has_workers = false) : Queue(device), has_workers_(has_workers) {}
  void conclude(std::span<const SemaphorePoint> signals, Status result);

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
  // Who does something for the device while it waits for the queue; null: nobody.
  virtual WaitHelper* wait_helper() { return nullptr; }
  virtual void schedule(Task& task);
  // Signals what a kept operation signals; the thread has nothing else to do afterwards.
  virtual void conclude_kept(std::span<const SemaphorePoint> signals, Status result) {
    conclude(signals, std::move(result));
  }
  virtual Status call(HostFunction& function);

  Status do_execute(const Order& order, Recording& recording, const BindingTable& table) override;
  Result<Ref<Buffer>> do_allocate(const Order& order, const AllocationRequest& request) override;
  Status do_free(const Order& order, Buffer& buffer) override;
  Status do_host_call(const Order& order, HostFunction& function) override;
  Status do_barrier(const Order& order) override;

  Status run(Recording& recording, const BindingTable& table);
  void keep_failure(const Status& status);
  void enter();
  void leave();

  const bool has_workers_;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::atomic<uint64_t> in_flight_{0};  // Operations that are kept. Written under mutex_.
  Status kept_failure_;                 // Guarded by mutex_.
  std::atomic<bool> timed_{false};
  ExecutionTimes times_;  // Guarded by mutex_.
};

}  // namespace baton::hal
