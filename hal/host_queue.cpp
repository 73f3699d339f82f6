#include "hal/host_queue.hpp"

#include <chrono>
#include <memory>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/device.hpp"
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

// Signals that release an operation which signals the next one: a chain of any length runs in one stack frame, because
// a task that becomes ready while this thread runs another is queued behind it.
class InlineRunner {
 public:
  void run(HostQueue::Task& task) {
    (last_ ? last_->next : first_) = &task;
    last_ = &task;
    if (running_) return;
    running_ = true;
    while (first_) {
      HostQueue::Task* now = std::exchange(first_, first_->next);
      if (!first_) last_ = nullptr;
      now->run();
    }
    running_ = false;
  }

 private:
  HostQueue::Task* first_ = nullptr;
  HostQueue::Task* last_ = nullptr;
  bool running_ = false;
};

thread_local InlineRunner inline_runner;

}  // namespace

// An operation that could not run inside its call. Waits for `waits`, then for a thread, then runs, signals and goes.
//
// The semaphores it waits for are not retained: when nobody else holds one, nobody can signal it, and its destructor
// fails the wait.
class HostQueue::Operation : public Task {
 public:
  // The operation owns itself from here on.
  void start(const Order& order) {
    queue_.enter();
    for (const SemaphorePoint& signal : order.signals) {
      signals_.push_back(signal);
      retained_.emplace_back(signal.semaphore);
    }
    waits_ = std::make_unique<Wait[]>(order.waits.size());
    pending_ = order.waits.size() + 1;  // One for this function: it must be through before the operation may go.
    for (size_t i = 0; i < order.waits.size(); ++i) {
      waits_[i].operation = this;
      order.waits[i].semaphore->notify(order.waits[i].value, waits_[i]);
    }
    one_wait_less();
  }

  void run() final {
    queue_.conclude_kept(signals_, perform());
    finish();
  }

  bool may_run_for(const Awaited& awaited) const final {
    if (!leads_to(awaited)) return false;
    const Recording* work = recording();
    return work && queue_.runs_on_waiter(*work, awaited.left_ns);
  }

 protected:
  explicit Operation(HostQueue& queue) : queue_(queue), device_(&queue.device()) {}
  virtual Status perform() = 0;
  // What it runs; null when that is not a recording.
  virtual const Recording* recording() const { return nullptr; }
  // Whether it is as good as done once it is ready: then it needs no thread of the device.
  virtual bool is_brief() const { return false; }

  HostQueue& queue_;

 private:
  bool leads_to(const Awaited& awaited) const {
    if (!awaited.semaphore) return true;
    for (const SemaphorePoint& signal : signals_) {
      if (signal.semaphore == awaited.semaphore && signal.value <= awaited.value) return true;
    }
    return false;
  }

  struct Wait final : SemaphoreWaiter {
    void reached(const Status& status) override { operation->wait_over(status); }
    Operation* operation = nullptr;
  };

  // The first failed wait fails the signals at once; the others may never come.
  void wait_over(const Status& status) {
    if (!status.ok() && !failed_.exchange(true)) queue_.conclude(signals_, status.clone());
    one_wait_less();
  }

  void one_wait_less() {
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (failed_) return finish();
    if (is_brief()) return inline_runner.run(*this);
    queue_.schedule(*this);
  }

  void finish() {
    // The device may go with the operation, and the queue with the device: nothing of the queue is touched after.
    Ref<Device> keep = device_;
    HostQueue& queue = queue_;
    delete this;
    queue.leave();
  }

  Ref<Device> device_;
  std::vector<SemaphorePoint> signals_;
  std::vector<Ref<Semaphore>> retained_;
  std::unique_ptr<Wait[]> waits_;
  std::atomic<size_t> pending_{0};
  std::atomic<bool> failed_{false};
};

class HostQueue::ExecuteOperation final : public Operation {
 public:
  ExecuteOperation(HostQueue& queue, Recording& recording, const BindingTable& table)
      : Operation(queue),
        recording_(&recording),
        buffers_(table.buffers.begin(), table.buffers.end()),
        constants_(table.constants.begin(), table.constants.end()) {
    table_buffers_.reserve(buffers_.size());
    for (const BufferRange& range : buffers_) table_buffers_.emplace_back(range.buffer);
  }

 private:
  Status perform() override { return queue_.run(*recording_, {buffers_, constants_}); }
  const Recording* recording() const override { return recording_.get(); }

  Ref<Recording> recording_;
  std::vector<BufferRange> buffers_;
  std::vector<uint32_t> constants_;
  std::vector<Ref<Buffer>> table_buffers_;  // Retained once per execution; recording.hpp keeps the rest.
};

class HostQueue::HostCallOperation final : public Operation {
 public:
  HostCallOperation(HostQueue& queue, HostFunction& function) : Operation(queue), function_(&function) {}

 private:
  Status perform() override { return queue_.call(*function_); }
  Ref<HostFunction> function_;
};

class HostQueue::FreeOperation final : public Operation {
 public:
  FreeOperation(HostQueue& queue, Buffer& buffer) : Operation(queue), buffer_(&buffer) {}

 private:
  // The memory goes with the last reference, which is this one unless a recording still names the buffer.
  Status perform() override {
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
  Status perform() override { return {}; }
  bool is_brief() const override { return true; }
};

void HostQueue::schedule(Task& task) { inline_runner.run(task); }

void HostQueue::conclude(std::span<const SemaphorePoint> signals, Status result) {
  if (result.ok()) [[likely]] {
    for (const SemaphorePoint& signal : signals) {
      // A refused signal (someone went beyond it meanwhile) must not leave its waiters hanging.
      if (Status status = signal.semaphore->signal(signal.value); !status.ok()) [[unlikely]]
        signal.semaphore->fail(status);
    }
    return;
  }
  for (const SemaphorePoint& signal : signals) signal.semaphore->fail(result);
  if (signals.empty()) keep_failure(result);
}

void HostQueue::keep_failure(const Status& status) {
  std::lock_guard lock(mutex_);
  if (kept_failure_.ok()) kept_failure_ = status.clone();
}

void HostQueue::enter() {
  std::lock_guard lock(mutex_);
  ++in_flight_;
}

void HostQueue::leave() {
  std::lock_guard lock(mutex_);
  if (--in_flight_ == 0) idle_.notify_all();
}

Status HostQueue::wait_idle(int64_t timeout_ns) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  const auto is_idle = [&] { return in_flight_.load() == 0; };
  done_while_helping(is_idle, wait_helper(), {.left_ns = timeout_ns});
  std::unique_lock lock(mutex_);
  if (timeout_ns < 0) {
    idle_.wait(lock, is_idle);
  } else if (!idle_.wait_until(lock, deadline, is_idle)) {
    return failure(StatusCode::kDeadlineExceeded, "The queue was not idle within ", timeout_ns, " ns (",
                   in_flight_.load(), " operations in flight).");
  }
  return std::exchange(kept_failure_, Status());
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
