#include "hal/drivers/cuda/queue.hpp"

#include <chrono>

#include "hal/allocator.hpp"
#include "hal/device.hpp"
#include "hal/drivers/common/kept_table.hpp"
#include "hal/drivers/cuda/driver_callback.hpp"
#include "hal/drivers/cuda/graph.hpp"
#include "hal/drivers/cuda/queue_operation.hpp"
#include "hal/host_function.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// An open mark that keeps more than this is closed: an event costs less than memory that is never let go of.
constexpr size_t kKeptMax = 256;
// So is one that so many executions with collectives share. The watch allows each of them its time (NcclWatch), and a rank
// that is gone is found out so much later, at most.
constexpr uint32_t kMeetingsMax = 8;

// Tells a semaphore of another driver what the device has done.
class SignalWatch final : public Worker::Watch {
 public:
  SignalWatch(const SemaphorePoint& signal, Ref<Mark> mark)
      : semaphore_(signal.semaphore), value_(signal.value), mark_(std::move(mark)) {}
  bool finished() override {
    if (!mark_->done()) return false;
    Status status = mark_->outcome();
    if (status.ok()) status = semaphore_->signal(value_);
    if (!status.ok()) semaphore_->fail(status);
    return true;
  }

 private:
  Ref<hal::Semaphore> semaphore_;
  uint64_t value_;
  Ref<Mark> mark_;
};

// What the slots of a recording mean in one execution; small tables cost no allocation.
class SlotValues {
 public:
  SlotValues(const Recording& recording, const BindingTable& table) {
    const auto needs = recording.slots().needs();
    if (needs.size() + 1 > std::size(inline_)) {
      outside_.resize(needs.size() + 1);
      values_ = outside_.data();
    }
    count_ = needs.size() + 1;
    values_[0] = {0, nullptr, 0};
    for (size_t slot = 0; slot < needs.size(); ++slot) {
      values_[slot + 1] = {0, nullptr, 0};
      // Checked: a slot that is used has a buffer (SlotIndex::check).
      if (needs[slot].use_count == 0) continue;
      const BufferRange& range = table.buffers[slot];
      const auto& buffer = static_cast<const Buffer&>(*range.buffer);
      values_[slot + 1] = {buffer.address() + range.offset, buffer.host() ? buffer.host() + range.offset : nullptr,
                           range_length(range)};
    }
  }
  SlotValues(const SlotValues&) = delete;
  SlotValues& operator=(const SlotValues&) = delete;
  std::span<const SlotValue> get() const { return {values_, count_}; }

 private:
  SlotValue inline_[33];
  std::vector<SlotValue> outside_;
  SlotValue* values_ = inline_;
  size_t count_;
};

}  // namespace

class Queue::ExecuteOperation final : public Operation {
 public:
  ExecuteOperation(Queue& queue, Recording& recording, const BindingTable& table, On on)
      : Operation(queue, on, Wants::kPromised), recording_(&recording), table_(table) {}
  using Operation::On;

 private:
  void enqueue(Marks marks, Signals signals) override { queue_.enqueue(*recording_, table_.table(), marks, signals); }

  const Ref<Recording> recording_;
  const KeptTable table_;
};

class Queue::HostCallOperation final : public Operation {
 public:
  HostCallOperation(Queue& queue, HostFunction& function)
      : Operation(queue, On::kWorker, Wants::kReached), function_(&function) {}

 private:
  void enqueue(Marks, Signals signals) override {
    queue_.ledger_.conclude(signals, function_->call({.device = queue_.device(), .bindings = {}, .constants = {}}));
  }
  Ref<HostFunction> function_;
};

class Queue::FreeOperation final : public Operation {
 public:
  FreeOperation(Queue& queue, hal::Buffer& buffer)
      : Operation(queue, On::kAnyThread, Wants::kPromised), buffer_(&buffer) {}

 private:
  void enqueue(Marks marks, Signals signals) override { queue_.release_memory(*buffer_, marks, signals); }
  Ref<hal::Buffer> buffer_;
};

class Queue::BarrierOperation final : public Operation {
 public:
  explicit BarrierOperation(Queue& queue) : Operation(queue, On::kAnyThread, Wants::kPromised) {}

 private:
  void enqueue(Marks marks, Signals signals) override { queue_.enqueue_barrier(marks, signals); }
};

Queue::Readiness Queue::look_at(std::span<const SemaphorePoint> waits, std::vector<Ref<Mark>>& marks, Status& failed) {
  // No CUDA call may be made from here; the worker enqueues.
  if (DriverCallback::inside()) return Readiness::kLater;
  for (const SemaphorePoint& wait : waits) {
    auto* own = dynamic_cast<Semaphore*>(wait.semaphore);
    if (!own) {
      if (!wait.semaphore->reached(wait.value)) return Readiness::kLater;
      continue;
    }
    Ref<Mark> mark;
    switch (own->find(wait.value, mark)) {
      case Semaphore::Place::kReached: break;
      case Semaphore::Place::kScheduled: marks.push_back(std::move(mark)); break;
      case Semaphore::Place::kFuture: return Readiness::kLater;
      case Semaphore::Place::kFailed: failed = own->failure_status(); return Readiness::kFailed;
    }
  }
  return Readiness::kReady;
}

// Enqueues it on the stream of the work that it waits for, if that is one of ours: then no event is needed.
Stream& Queue::stream_for(Marks marks) {
  if (parts_.streams.size() == 1) return *parts_.streams[0];
  for (const Ref<Mark>& mark : marks) {
    for (const Ref<Stream>& stream : parts_.streams) {
      if (&mark->stream() == stream.get()) return *stream;
    }
  }
  return *parts_.streams[next_stream_.fetch_add(1, std::memory_order_relaxed) % parts_.streams.size()];
}

bool Queue::as_graph(Recording& recording) const {
  if (recording.runs_as_graph()) return true;
  if (!recording.first()) return false;
  const uint64_t executions = recording.count_execution();
  if (!recording.graph_obstacle().empty()) return false;
  const bool as_graph = parts_.mode == Mode::kGraph || (parts_.mode == Mode::kAuto && executions > 0);
  if (as_graph) recording.note_runs_as_graph();
  return as_graph;
}

Status Queue::issue(Recording& recording, const Execution& execution) const {
  if (!parts_.timed) return recording.issue(execution);
  const auto start = std::chrono::steady_clock::now();
  Status issued = recording.issue(execution);
  recording.note_stream_ns(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  return issued;
}

bool Queue::may_fail(const Recording& recording, Marks marks) { return recording.calls_host() || !marks.empty(); }

template <typename Run>
[[gnu::noinline]] Status Queue::run_timed(Stream& stream, Mark& mark, const Run& run) {
  ExecutionClock::Span span;
  BATON_TRY(execution_clock_.begin(stream.handle(), span));
  Status status = run(stream, mark);
  Status ended = execution_clock_.end(stream.handle(), span);
  return status.ok() ? std::move(ended) : std::move(status);
}

template <typename Run>
Status Queue::enqueue_between(Recording& recording, Marks marks, Signals signals, Ref<Mark>& closed, const Run& run) {
  BATON_TRY(parts_.context->check());
  if (recording.has_channels()) [[unlikely]]
    BATON_TRY(recording.known_channel_failure());
  Stream& stream = stream_for(marks);
  std::lock_guard lock(stream.mutex());
  const ContextScope scope = parts_.context->enter();
  Mark& mark = stream.open();
  Status status;
  for (const Ref<Mark>& wait : marks) {
    mark.depend_on(wait);
    if (status.ok()) status = stream.wait(*wait);
  }
  mark.keep(recording);
  if (recording.has_channels()) [[unlikely]]
    mark.meet_ranks(!signals.empty());
  if (status.ok()) status = execution_clock_.on() ? run_timed(stream, mark, run) : run(stream, mark);
  const bool told = !signals.empty() || may_fail(recording, marks);
  if (!told && mark.kept_count() <= kKeptMax && mark.meetings() < kMeetingsMax) return status;
  auto made = stream.close();
  if (!made.has_value()) return status.ok() ? std::move(made).error() : std::move(status);
  if (told) closed = std::move(made).value();
  return status;
}

void Queue::settle(Recording& recording, Status status, Signals signals, Ref<Mark>&& closed) {
  parts_.worker->touch();
  if (!status.ok()) return ledger_.conclude(signals, std::move(status).with_context(recording.description()));
  if (!signals.empty()) return promise(signals, std::move(closed));
  if (!closed) return;  // It cannot fail.
  std::lock_guard lock(mutex_);
  unsignalled_.push_back(std::move(closed));
}

Status Queue::enqueue_graph(Recording& recording, const BindingTable& table, bool checked, Marks marks,
                            Signals signals) {
  Graph& graph = recording.graph();
  Ref<Mark> closed;
  Status status;
  {
    std::lock_guard lock(graph.mutex());
    auto bound = graph.bind(table, frees_.load(std::memory_order_acquire), checked);
    if (!bound.has_value()) return named(std::move(bound).error(), recording);
    status = enqueue_between(recording, marks, signals, closed, [&](Stream& stream, Mark& mark) {
      return graph.launch({device(), *parts_.context, *parts_.memory, stream, mark, graph.slots(), graph.constants()},
                          std::move(*bound), parts_.timed);
    });
  }
  settle(recording, std::move(status), signals, std::move(closed));
  return {};
}

void Queue::enqueue_commands(Recording& recording, const BindingTable& table, Marks marks, Signals signals) {
  const SlotValues slots(recording, table);
  Ref<Mark> closed;
  Status status = enqueue_between(recording, marks, signals, closed, [&](Stream& stream, Mark& mark) {
    mark.expect_buffers(table.buffers.size());
    for (const BufferRange& range : table.buffers) {
      if (range.buffer) mark.keep(*range.buffer);
    }
    return issue(recording, {device(), *parts_.context, *parts_.memory, stream, mark, slots.get(), table.constants});
  });
  settle(recording, std::move(status), signals, std::move(closed));
}

void Queue::enqueue(Recording& recording, const BindingTable& table, Marks marks, Signals signals) {
  if (!as_graph(recording)) return enqueue_commands(recording, table, marks, signals);
  const Status fits = enqueue_graph(recording, table, true, marks, signals);
}

Result<Ref<Mark>> Queue::join(Marks marks) {
  if (marks.size() <= 1) return marks.empty() ? Ref<Mark>() : marks[0];
  Stream& stream = stream_for(marks);
  std::lock_guard lock(stream.mutex());
  const ContextScope scope = parts_.context->enter();
  Mark& mark = stream.open();
  for (const Ref<Mark>& wait : marks) {
    mark.depend_on(wait);
    BATON_TRY(stream.wait(*wait));
  }
  return stream.close();
}

// A barrier behind one mark is that mark: nothing is enqueued.
void Queue::enqueue_barrier(Marks marks, Signals signals) {
  auto joined = join(marks);
  if (!joined.has_value()) return ledger_.conclude(signals, joined.error());
  if (!*joined) return ledger_.conclude(signals, {});
  promise(signals, *joined);
}

void Queue::release_memory(hal::Buffer& buffer, Marks marks, Signals signals) {
  auto joined = join(marks);
  if (!joined.has_value()) return ledger_.conclude(signals, joined.error());
  static_cast<Buffer&>(buffer).give_back(*joined);
  if (!*joined) return ledger_.conclude(signals, {});
  promise(signals, *joined);
}

void Queue::promise(Signals signals, Ref<Mark> mark) {
  for (const SemaphorePoint& signal : signals) {
    const bool last = &signal == &signals.back();
    if (auto* own = dynamic_cast<Semaphore*>(signal.semaphore)) {
      own->schedule(signal.value, last ? std::move(mark) : mark);
    } else {
      parts_.worker->watch(std::make_unique<SignalWatch>(signal, mark));
    }
  }
}

Status Queue::do_execute(const Order& order, hal::Recording& recording, const BindingTable& table) {
  auto& own = static_cast<Recording&>(recording);
  std::vector<Ref<Mark>> marks;
  Status failed;
  const Readiness readiness = own.blocks_host() ? Readiness::kLater : look_at(order.waits, marks, failed);
  const bool ready = readiness == Readiness::kReady;
  if (ready && as_graph(own)) [[likely]]
    return enqueue_graph(own, table, false, marks, order.signals);
  BATON_TRY(hal::Queue::check_table(recording, table));
  if (ready) {
    enqueue_commands(own, table, marks, order.signals);
  } else if (readiness == Readiness::kFailed) {
    ledger_.conclude(order.signals, failed);
  } else {
    using On = ExecuteOperation::On;
    (new ExecuteOperation(*this, own, table, own.blocks_host() ? On::kWorker : On::kAnyThread))->start(order);
  }
  return {};
}

Status Queue::do_host_call(const Order& order, HostFunction& function) {
  (new HostCallOperation(*this, function))->start(order);
  return {};
}

// The memory can be had at once, whatever the order says: only its use is ordered, and blocks that the device may still
// be using are not given out to others (Memory).
Result<Ref<hal::Buffer>> Queue::do_allocate(const Order& order, const AllocationRequest& request) {
  BATON_TRY_ASSIGN(Ref<hal::Buffer> buffer, device().allocator().allocate(request));
  if (!order.waits.empty() || !order.signals.empty()) BATON_TRY(do_barrier(order));
  return buffer;
}

Status Queue::do_free(const Order& order, hal::Buffer& buffer) {
  frees_.fetch_add(1, std::memory_order_release);
  if (order.waits.empty() && order.signals.empty() && !DriverCallback::inside()) {
    static_cast<Buffer&>(buffer).give_back(nullptr);
    return {};
  }
  std::vector<Ref<Mark>> marks;
  Status failed;
  switch (look_at(order.waits, marks, failed)) {
    case Readiness::kReady: release_memory(buffer, marks, order.signals); break;
    case Readiness::kFailed: ledger_.conclude(order.signals, failed); break;
    case Readiness::kLater: (new FreeOperation(*this, buffer))->start(order); break;
  }
  return {};
}

Status Queue::do_barrier(const Order& order) {
  std::vector<Ref<Mark>> marks;
  Status failed;
  switch (look_at(order.waits, marks, failed)) {
    case Readiness::kReady: enqueue_barrier(marks, order.signals); break;
    case Readiness::kFailed: ledger_.conclude(order.signals, failed); break;
    case Readiness::kLater: (new BarrierOperation(*this))->start(order); break;
  }
  return {};
}

Status Queue::drain(int64_t timeout_ns) {
  size_t in_flight = 0;
  bool drained = true;
  for (const Ref<Stream>& stream : parts_.streams) {
    BATON_TRY_ASSIGN(const bool done, stream->drain_within(timeout_ns));
    drained &= done;
    in_flight += stream->in_flight();
  }
  if (drained) return {};
  return failure(StatusCode::kDeadlineExceeded, "The queue was not idle within ", timeout_ns, " ns (", in_flight,
                 " operations in flight).");
}

Status Queue::wait_idle(int64_t timeout_ns) {
  BATON_TRY(ledger_.wait_until_empty(timeout_ns));
  Status drained = drain(timeout_ns);
  if (drained.code() == StatusCode::kDeadlineExceeded) return drained;
  const auto keep_failures = [&](const std::vector<Ref<Mark>>& marks) {
    for (const Ref<Mark>& mark : marks) {
      if (mark->done()) ledger_.keep_failure(mark->outcome());
    }
  };
  keep_failures(take_unsignalled());
  for (const Ref<Stream>& stream : parts_.streams) keep_failures(stream->take_unheard());
  Status failed = ledger_.take_failure();
  if (!failed.ok()) return failed;
  // The loss of the device stays: every call returns it.
  return drained.ok() ? parts_.context->check() : std::move(drained);
}

std::vector<Ref<Mark>> Queue::take_unsignalled() {
  const std::lock_guard lock(mutex_);
  return std::exchange(unsignalled_, {});
}

}  // namespace baton::hal::drivers::cuda
