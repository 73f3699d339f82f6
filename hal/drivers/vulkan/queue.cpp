#include "hal/drivers/vulkan/queue.hpp"

#include <algorithm>

#include "hal/drivers/common/kept_table.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/queue_operation.hpp"
#include "hal/host_function.hpp"

namespace baton::hal::drivers::vulkan {

Queue::Queue(Device& device, Ref<Timeline> timeline, Ref<Worker> worker)
    : hal::Queue(device),
      timeline_(std::move(timeline)),
      worker_(std::move(worker)),
      clock_(Ref<Context>(&timeline_->context())) {}

class Queue::ExecuteOperation final : public Operation {
 public:
  ExecuteOperation(Queue& queue, Recording& recording, const BindingTable& table)
      : Operation(queue, recording.has_host_steps() ? On::kWorker : On::kAnyThread),
        recording_(&recording),
        table_(table) {}

 private:
  void perform(Signals signals) override {
    if (recording_->has_host_steps()) {
      queue_.run_steps(*recording_, queue_.request(table_.table(), true), signals);
    } else if (recording_->empty()) {
      queue_.ledger_.conclude(signals, {});
    } else {
      const Status fits = queue_.submit(*recording_, queue_.request(table_.table(), true), signals);
    }
  }

  const Ref<Recording> recording_;
  const KeptTable table_;
};

class Queue::HostCallOperation final : public Operation {
 public:
  HostCallOperation(Queue& queue, HostFunction& function) : Operation(queue, On::kWorker), function_(&function) {}

 private:
  void perform(Signals signals) override {
    queue_.ledger_.conclude(signals, function_->call({.device = queue_.device(), .bindings = {}, .constants = {}}));
  }
  const Ref<HostFunction> function_;
};

class Queue::FreeOperation final : public Operation {
 public:
  FreeOperation(Queue& queue, hal::Buffer& buffer) : Operation(queue, On::kAnyThread), buffer_(&buffer) {}

 private:
  // The memory goes with the last reference, which is this one unless a recording still names the buffer.
  void perform(Signals signals) override {
    buffer_ = nullptr;
    queue_.ledger_.conclude(signals, {});
  }
  Ref<hal::Buffer> buffer_;
};

class Queue::BarrierOperation final : public Operation {
 public:
  explicit BarrierOperation(Queue& queue) : Operation(queue, On::kAnyThread) {}

 private:
  void perform(Signals signals) override { queue_.ledger_.conclude(signals, {}); }
};

Queue::Readiness Queue::look_at(std::span<const SemaphorePoint> waits, uint64_t& serial, Status& failed) const {
  for (const SemaphorePoint& wait : waits) {
    if (wait.semaphore->reached(wait.value)) continue;
    Semaphore* const known = own(wait.semaphore);
    if (!known) return Readiness::kLater;
    if (const auto value = known->query(); !value.has_value()) {
      failed = value.error().clone();
      return Readiness::kFailed;
    }
    const uint64_t promised = known->promised(wait.value);
    if (promised == 0 && !known->reached(wait.value)) return Readiness::kLater;
    serial = std::max(serial, promised);
  }
  return Readiness::kReady;
}

Status Queue::do_execute(const Order& order, hal::Recording& recording, const BindingTable& table) {
  auto& own = static_cast<Recording&>(recording);
  uint64_t serial = 0;
  Status failed;
  const Readiness readiness = own.has_host_steps() ? Readiness::kLater : look_at(order.waits, serial, failed);
  if (readiness == Readiness::kReady && !own.empty()) [[likely]]
    return submit(own, request(table, false), order.signals);
  BATON_TRY(hal::Queue::check_table(recording, table));
  switch (readiness) {
    case Readiness::kReady: pass(serial, order.signals); break;
    case Readiness::kFailed: ledger_.conclude(order.signals, failed); break;
    case Readiness::kLater: (new ExecuteOperation(*this, own, table))->start(order); break;
  }
  return {};
}

Status Queue::do_host_call(const Order& order, HostFunction& function) {
  (new HostCallOperation(*this, function))->start(order);
  return {};
}

// The memory can be had at once, whatever the order says: only its use is ordered.
Result<Ref<hal::Buffer>> Queue::do_allocate(const Order& order, const AllocationRequest& request) {
  BATON_TRY_ASSIGN(Ref<hal::Buffer> buffer, device().allocator().allocate(request));
  BATON_TRY(do_barrier(order));
  return buffer;
}

// Executions under way keep what they use.
Status Queue::do_free(const Order& order, hal::Buffer& buffer) {
  frees_.fetch_add(1, std::memory_order_release);
  (new FreeOperation(*this, buffer))->start(order);
  return {};
}

Status Queue::do_barrier(const Order& order) {
  uint64_t serial = 0;
  Status failed;
  switch (look_at(order.waits, serial, failed)) {
    case Readiness::kReady: pass(serial, order.signals); break;
    case Readiness::kFailed: ledger_.conclude(order.signals, failed); break;
    case Readiness::kLater: (new BarrierOperation(*this))->start(order); break;
  }
  return {};
}

Status Queue::wait_idle(int64_t timeout_ns) {
  BATON_TRY(ledger_.wait_until_empty(timeout_ns, timeline_.get()));
  BATON_TRY(timeline_->drain(timeout_ns));
  Status failed = ledger_.take_failure();
  // The loss of the device stays: every call returns it.
  return failed.ok() ? timeline_->context().check() : std::move(failed);
}

}  // namespace baton::hal::drivers::vulkan
