#include "hal/drivers/common/host_queue.hpp"

#include <chrono>

#include "base/work_limits.hpp"
#include "hal/allocator.hpp"
#include "hal/device.hpp"
#include "hal/drivers/common/deferred_operation.hpp"
#include "hal/drivers/common/host_turn.hpp"
#include "hal/drivers/common/kept_table.hpp"
#include "hal/host_function.hpp"
#include "hal/recording.hpp"

namespace baton::hal {
namespace {

bool all_reached(std::span<const SemaphorePoint> points) {
  for (const SemaphorePoint& point : points) {
    if (!point.semaphore->reached(point.value)) return false;
  }
  return true;
}

}  // namespace

// Once it is ready it waits for a thread of the device.
class HostQueue::Operation : public DeferredOperation {
 public:
  bool may_run_for(const Awaited& awaited) const final {
    const Recording* work = recording();
    if (awaited.by_worker) return leads_to(awaited) || (work && queue_.runs_on_waiter(*work, kWaitForever));
    if (!leads_to(awaited)) return false;
    return work && queue_.runs_on_waiter(*work, awaited.left_ns);
  }

 protected:
  explicit Operation(HostQueue& queue)
      : DeferredOperation(queue.device(), queue.ledger_),
        queue_(queue),
        limits_(WorkLimits::current() ? WorkLimits::current()->keep() : WorkLimits()) {}
  virtual Status work() = 0;
  // Releases what the work kept before its end is signalled, so that a waiter finds it released.
  virtual void let_go() {}
  // What it runs; null when that is not a recording.
  virtual const Recording* recording() const { return nullptr; }
  // Whether it is as good as done once it is ready: then it needs no thread of the device.
  virtual bool is_brief() const { return false; }

  HostQueue& queue_;

 private:
  void ready() final {
    if (is_brief()) return run_in_turn(*this);
    queue_.schedule(*this);
  }
  void perform(Signals signals) final {
    const Status result = work_within_limits();
    let_go();
    queue_.conclude_deferred(signals, result);
  }
  Status work_within_limits() {
    const WorkLimits::Scope scope(&limits_);
    return work();
  }

  bool leads_to(const Awaited& awaited) const {
    if (!awaited.semaphore) return true;
    for (const SemaphorePoint& signal : signals()) {
      if (signal.semaphore == awaited.semaphore && signal.value <= awaited.value) return true;
    }
    return false;
  }

  WorkLimits limits_;  // Of the call that submitted it.
};

class HostQueue::ExecuteOperation final : public Operation {
 public:
  ExecuteOperation(HostQueue& queue, Recording& recording, const BindingTable& table)
      : Operation(queue), recording_(&recording), table_(table) {}

 private:
  Status work() override { return queue_.run(*recording_, table_.table()); }
  void let_go() override {
    recording_ = nullptr;
    const KeptTable gone = std::move(table_);
  }
  const Recording* recording() const override { return recording_.get(); }

  Ref<Recording> recording_;
  KeptTable table_;
};

class HostQueue::HostCallOperation final : public Operation {
 public:
  HostCallOperation(HostQueue& queue, HostFunction& function) : Operation(queue), function_(&function) {}

 private:
  Status work() override { return queue_.call(*function_); }
  void let_go() override { function_ = nullptr; }
  Ref<HostFunction> function_;
};

class HostQueue::FreeOperation final : public Operation {
 public:
  FreeOperation(HostQueue& queue, Buffer& buffer) : Operation(queue), buffer_(&buffer) {}

 private:
  // The memory goes with the last reference, which is this one unless a recording still names the buffer.
  Status work() override {
    buffer_ = nullptr;
    return {};
  }
  bool is_brief() const override { return true; }
  Ref<Buffer> buffer_;
};

class HostQueue::BarrierOperation final : public Operation {
 public:
  explicit BarrierOperation(HostQueue& queue) : Operation(queue) {}

 private:
  Status work() override { return {}; }
  bool is_brief() const override { return true; }
};

void HostQueue::schedule(Task& task) { run_in_turn(task); }

Status HostQueue::wait_idle(int64_t timeout_ns) {
  BATON_TRY(ledger_.wait_until_empty(timeout_ns, wait_helper()));
  return ledger_.take_failure();
}

Status HostQueue::time_executions(bool on) {
  timed_.store(on, std::memory_order_relaxed);
  return {};
}

ExecutionTimes HostQueue::take_execution_times() {
  std::lock_guard lock(mutex_);
  return std::exchange(times_, {});
}

Status HostQueue::run(Recording& recording, const BindingTable& table) {
  if (!timed_.load(std::memory_order_relaxed)) [[likely]]
    return run_recording(recording, table);
  const auto start = std::chrono::steady_clock::now();
  Status status = run_recording(recording, table);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  std::lock_guard lock(mutex_);
  ++times_.executions;
  times_.total_ns += took.count();
  return status;
}

Status HostQueue::do_execute(const Order& order, Recording& recording, const BindingTable& table) {
  if (all_reached(order.waits) && (!has_workers_ || runs_inline(recording))) [[likely]] {
    conclude(order.signals, run(recording, table));
  } else {
    (new ExecuteOperation(*this, recording, table))->start(order);
  }
  return {};
}

Status HostQueue::call(HostFunction& function) {
  const HostTurn turn;
  return function.call({.device = device(), .bindings = {}, .constants = {}});
}

Status HostQueue::do_host_call(const Order& order, HostFunction& function) {
  if (all_reached(order.waits) && !has_workers_) {
    conclude(order.signals, call(function));
  } else {
    (new HostCallOperation(*this, function))->start(order);
  }
  return {};
}

// Host memory can be had at once, whatever the order says: only its use is ordered.
Result<Ref<Buffer>> HostQueue::do_allocate(const Order& order, const AllocationRequest& request) {
  BATON_TRY_ASSIGN(Ref<Buffer> buffer, device().allocator().allocate(request));
  BATON_TRY(do_barrier(order));
  return buffer;
}

Status HostQueue::do_free(const Order& order, Buffer& buffer) {
  if (all_reached(order.waits)) {
    conclude(order.signals, {});
  } else {
    (new FreeOperation(*this, buffer))->start(order);
  }
  return {};
}

// A barrier is done where its last wait is: that needs no thread of the device.
Status HostQueue::do_barrier(const Order& order) {
  if (all_reached(order.waits)) {
    conclude(order.signals, {});
  } else {
    (new BarrierOperation(*this))->start(order);
  }
  return {};
}

}  // namespace baton::hal
