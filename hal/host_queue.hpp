// HostQueue: the order of operations for every driver whose queue runs on the host.
//
// An operation whose waits are reached runs at once and costs no allocation. Otherwise it is kept, and whoever signals
// its last wait hands it to schedule(). The default runs it there and then; a driver with workers gives it to them.
// Threads: internally synchronized.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "hal/queue.hpp"

namespace baton::hal {

class HostQueue : public Queue {
 public:
  // Something ready to run, once. It deletes itself.
  class Task {
   public:
    virtual ~Task() = default;
    virtual void run() = 0;
    Task* next = nullptr;  // For whoever queues it.
  };

  Status wait_idle(int64_t timeout_ns) override;

 protected:
  explicit HostQueue(Device& device) : Queue(device) {}

 private:
  class Operation;
  class ExecuteOperation;
  class HostCallOperation;
  class FreeOperation;
  class BarrierOperation;

  // Runs the commands on this thread and returns their first failure. The table fits the recording.
  virtual Status run_recording(Recording& recording, const BindingTable& table) = 0;
  // Whether a ready operation runs inside the call that submits it.
  virtual bool runs_inline() const { return true; }
  virtual void schedule(Task& task);
  virtual Status call(HostFunction& function);

  Status do_execute(const Order& order, Recording& recording, const BindingTable& table) override;
  Result<Ref<Buffer>> do_allocate(const Order& order, const AllocationRequest& request) override;
  Status do_free(const Order& order, Buffer& buffer) override;
  Status do_host_call(const Order& order, HostFunction& function) override;
  Status do_barrier(const Order& order) override;

  bool ready_inline(const Order& order) const;
  void conclude(std::span<const SemaphorePoint> signals, Status result);
  void keep_failure(const Status& status);
  void enter();
  void leave();

  std::mutex mutex_;
  std::condition_variable idle_;
  uint64_t in_flight_ = 0;  // Guarded by mutex_: operations that are kept.
  Status kept_failure_;     // Guarded by mutex_.
};

}  // namespace baton::hal
