// Queue: operations in the order of their semaphores, on a few CUDA streams.
//
// An operation whose waits are reached, or scheduled on a device, is enqueued at once by the thread that submits it:
// the device keeps the order. Otherwise it is deferred, and the thread that promises its last wait enqueues it. Signals
// are scheduled with the mark that is closed behind the work; an operation without signals closes none and costs no
// event.
// Threads: internally synchronized.
#pragma once

#include "hal/drivers/common/operation_ledger.hpp"
#include "hal/drivers/cuda/execution_clock.hpp"
#include "hal/drivers/cuda/recording.hpp"
#include "hal/drivers/cuda/semaphore.hpp"
#include "hal/queue.hpp"

namespace baton::hal::drivers::cuda {

// How recordings run.
enum class Mode {
  kAuto,    // On a stream the first time, as a graph from the second.
  kStream,  // Command by command.
  kGraph,   // As a graph from the first time.
};

class Queue final : public hal::Queue {
 public:
  struct Parts {
    Ref<PrimaryContext> context;
    Ref<Memory> memory;
    Ref<Worker> worker;
    std::vector<Ref<Stream>> streams;
    Mode mode;
    bool timed;  // Take the times that graph reports tell.
  };
  Queue(hal::Device& device, Parts parts)
      : hal::Queue(device), parts_(std::move(parts)), execution_clock_(parts_.context) {}

  Status wait_idle(int64_t timeout_ns) override;
  Status time_executions(bool on) override {
    execution_clock_.turn(on);
    return {};
  }
  ExecutionTimes take_execution_times() override { return execution_clock_.take(); }

 private:
  class Operation;
  class ExecuteOperation;
  class HostCallOperation;
  class FreeOperation;
  class BarrierOperation;
  using Marks = std::span<const Ref<Mark>>;
  using Signals = std::span<const SemaphorePoint>;

  Status do_execute(const Order& order, hal::Recording& recording, const BindingTable& table) override;
  Result<Ref<hal::Buffer>> do_allocate(const Order& order, const AllocationRequest& request) override;
  Status do_free(const Order& order, hal::Buffer& buffer) override;
  Status do_host_call(const Order& order, HostFunction& function) override;
  Status do_barrier(const Order& order) override;
  Status do_wait_for_stream(uint64_t stream) override;  // other_streams.cpp
  Status do_hold_stream(uint64_t stream, std::span<const SemaphorePoint> points) override;
  Result<std::vector<Ref<Mark>>> marks_so_far();
  Result<std::vector<Ref<Mark>>> marks_of(std::span<const SemaphorePoint> points);

  // What the waits of an operation come to, here and now.
  enum class Readiness { kReady, kLater, kFailed };
  Readiness look_at(std::span<const SemaphorePoint> waits, std::vector<Ref<Mark>>& marks, Status& failed);

  Status check_table(const hal::Recording&, const BindingTable&) const override { return {}; }  // do_execute does.
  // Whether this execution is one of a graph.
  bool as_graph(Recording& recording) const;
  // Each of them to its end. Returns why a table does not fit, which was not checked before; all else reaches the
  // signals.
  void enqueue(Recording& recording, const BindingTable& table, Marks marks, Signals signals);
  Status enqueue_graph(Recording& recording, const BindingTable& table, bool checked, Marks marks, Signals signals);
  void enqueue_commands(Recording& recording, const BindingTable& table, Marks marks, Signals signals);
  static bool may_fail(const Recording& recording, Marks marks);
  Status issue(Recording& recording, const Execution& execution) const;
  // The frame around both: what stands between the waits and the mark that is closed behind `run`, if anybody asks for
  // it.
  template <typename Run>
  Status enqueue_between(Recording& recording, Marks marks, Signals signals, Ref<Mark>& closed, const Run& run);
  template <typename Run>
  Status run_timed(Stream& stream, Mark& mark, const Run& run);
  void settle(Recording& recording, Status status, Signals signals, Ref<Mark>&& closed);
  void enqueue_barrier(Marks marks, Signals signals);
  // One mark behind all of them; null when there is none.
  Result<Ref<Mark>> join(Marks marks);
  void release_memory(hal::Buffer& buffer, Marks marks, Signals signals);

  Stream& stream_for(Marks marks);
  void promise(Signals signals, Ref<Mark> mark);
  std::vector<Ref<Mark>> take_unsignalled();
  Status drain(int64_t timeout_ns);

  const Parts parts_;
  ExecutionClock execution_clock_;
  std::atomic<uint32_t> next_stream_{0};
  std::atomic<uint64_t> frees_{0};
  OperationLedger ledger_;
  std::mutex mutex_;
  std::vector<Ref<Mark>> unsignalled_;  // Guarded by mutex_: work that may fail and has no signal to say so.
};

}  // namespace baton::hal::drivers::cuda
