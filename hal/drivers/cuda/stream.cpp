#include "hal/drivers/cuda/stream.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "hal/drivers/common/bound_table.hpp"
#include "hal/drivers/common/spin.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// Of this thread, one inside the other: what is let go of may wait for a semaphore.
thread_local uint32_t reaping_here = 0;

constexpr int64_t kReapersWaitNs = 1'000'000'000;  // When the queue is to be idle.

}  // namespace

Result<Ref<Stream>> Stream::make(Ref<PrimaryContext> context) {
  const ContextScope scope = context->enter();
  CUstream handle = nullptr;
  BATON_CUDA_TRY(context->symbols(), cuStreamCreateWithPriority, &handle, CU_STREAM_NON_BLOCKING, 0);
  return make_ref<Stream>(std::move(context), handle);
}

Stream::~Stream() {
  const ContextScope scope = context_->enter();
  const Symbols& symbols = context_->symbols();
  const auto drop = [&](Mark* list) {
    while (list) {
      Mark* mark = std::exchange(list, list->next_spare_);
      if (mark->event_) symbols.cuEventDestroy(mark->event_);
      delete mark;
    }
  };
  drop(spare_);
  drop(returned_.load(std::memory_order_acquire));
  symbols.cuStreamDestroy(handle_);
}

Mark* Stream::take_spare() {
  if (!spare_) spare_ = returned_.exchange(nullptr, std::memory_order_acquire);
  if (!spare_) return new Mark;
  Mark* mark = spare_;
  spare_ = mark->next_spare_;
  mark->ordinal_ = 0;
  return mark;
}

void Stream::take_back(Mark* mark) {
  if (mark->may_fail_.load(std::memory_order_relaxed) || context_->lost()) {
    mark->failure_ = Status();
    mark->may_fail_.store(false, std::memory_order_relaxed);
    mark->meetings_ = 0;
    mark->unheard_ = false;
  }
  mark->next_spare_ = returned_.load(std::memory_order_relaxed);
  while (
      !returned_.compare_exchange_weak(mark->next_spare_, mark, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void Stream::linger(std::shared_ptr<BoundTable>& table) {
  std::lock_guard lock(bound_mutex_);
  for (const auto& known : bound_) {
    if (known == table) return;
  }
  std::swap(bound_[next_bound_++ % kBoundTables], table);
}

void Stream::drop_bound_tables() {
  std::array<std::shared_ptr<BoundTable>, kBoundTables> dropped;  // Dies without the lock.
  std::lock_guard lock(bound_mutex_);
  std::swap(bound_, dropped);
}

void Stream::drop_bound_table(const std::shared_ptr<BoundTable>& table) {
  std::lock_guard lock(bound_mutex_);
  for (auto& known : bound_) {
    if (known == table) known = nullptr;  // The caller has it: nothing dies here.
  }
}

Mark& Stream::open() {
  if (!open_) {
    Mark* mark = take_spare();
    mark->stream_ = Ref<Stream>(this);
    mark->count_.store(1, std::memory_order_relaxed);
    open_ = Ref<Mark>::adopt(mark);
  }
  return *open_;
}

Result<Ref<Mark>> Stream::close() {
  Mark& mark = open();
  const Symbols& symbols = context_->symbols();
  if (!mark.event_) {
    const CUresult made = symbols.cuEventCreate(&mark.event_, CU_EVENT_DISABLE_TIMING);
    if (made != CUDA_SUCCESS) return context_->status_of(made, "cuEventCreate");
  }
  const CUresult recorded = symbols.cuEventRecord(mark.event_, handle_);
  if (recorded != CUDA_SUCCESS) return context_->status_of(recorded, "cuEventRecord");
  mark.ordinal_ = ++last_ordinal_;
  // It was not handed out before: it is counted for the queue and for the caller at once.
  mark.count_.store(2, std::memory_order_relaxed);
  Ref<Mark> closed = std::exchange(open_, nullptr);
  in_flight_.push(Ref<Mark>::adopt(&mark));
  if (mark.meetings_ != 0) [[unlikely]]
    watch_channels(closed);
  return closed;
}

void Stream::watch_channels(const Ref<Mark>& closed) {
  closed->watch_channels(closed);
  if (!closed->unheard_) return;
  if (unheard_.size() >= unheard_max_) {
    std::erase_if(unheard_, [](const Ref<Mark>& mark) { return mark->known_done() && mark->outcome().ok(); });
    unheard_max_ = std::max(kUnheardMax, 2 * unheard_.size());
  }
  unheard_.push_back(closed);
}

std::vector<Ref<Mark>> Stream::take_unheard() {
  std::lock_guard lock(mutex_);
  return std::exchange(unheard_, {});
}

Status Stream::wait(Mark& mark) {
  if (mark.stream_.get() == this || mark.done()) return {};
  return context_->status_of(context_->symbols().cuStreamWaitEvent(handle_, mark.event_, 0), "cuStreamWaitEvent");
}

Result<Ref<Mark>> Stream::last() {
  if (open_) return close();
  return in_flight_.empty() ? Ref<Mark>() : in_flight_.back();
}

Status Stream::hold(CUstream stream, Mark& mark) {
  if (mark.done()) return {};
  PrimaryContext& context = mark.stream_->context();
  return context.status_of(context.symbols().cuStreamWaitEvent(stream, mark.event_, 0), "cuStreamWaitEvent");
}

// A lost device comes by nothing any more: everything is done, and failed (Mark::outcome).
bool Stream::ask(const Mark& mark) {
  if (mark.ordinal_ == 0) return false;
  if (context_->lost()) return true;
  const ContextScope scope = context_->enter();
  const CUresult result = context_->symbols().cuEventQuery(mark.event_);
  if (result == CUDA_ERROR_NOT_READY) return false;
  if (result != CUDA_SUCCESS) {
    const Status status = context_->status_of(result, "cuEventQuery");
    return context_->lost();
  }
  uint64_t completed = completed_.load(std::memory_order_relaxed);
  while (completed < mark.ordinal_ &&
         !completed_.compare_exchange_weak(completed, mark.ordinal_, std::memory_order_acq_rel)) {
  }
  return true;
}

size_t Stream::reap(bool ask_device) {
  while (true) {
    // Objects that the marks kept are released after the lock: releasing one may call this stream again, or drop the
    // last reference to the device.
    Done done;
    take_done(ask_device, done);
    ++reaping_here;
    for (size_t i = 0; i < done.count; ++i) {
      Mark::Possessions possessions = done.marks[i]->take_possessions();
      if (possessions.table) linger(possessions.table);
    }
    --reaping_here;
    if (done.count != 0) reapers_.fetch_sub(1, std::memory_order_release);
    if (done.count < Done::kMax) return done.in_flight;
  }
}

void Stream::take_done(bool ask_device, Done& done) {
  std::lock_guard lock(mutex_);
  if (ask_device && in_flight_.empty() && open_ && open_->kept_count() != 0 && !context_->lost()) {
    const ContextScope scope = context_->enter();
    const auto closed = close();
    if (!closed.has_value()) return;
  }
  while (!in_flight_.empty() && done.count < Done::kMax) {
    Mark& oldest = *in_flight_.front();
    if (!reached(oldest.ordinal_) && !(ask_device && ask(oldest))) break;
    // Its failure, if any, is in the semaphores or fetched by the queue; what it kept goes.
    const Status outcome = oldest.outcome();
    done.marks[done.count++] = in_flight_.pop();
  }
  done.in_flight = in_flight_.size();
  if (done.count != 0) reapers_.fetch_add(1, std::memory_order_relaxed);
}

void Stream::wait_for_reapers(int64_t limit_ns) const {
  if (reapers_.load(std::memory_order_acquire) == 0 || reaping_here != 0) [[likely]]
    return;
  Spin spin(limit_ns);
  while (reapers_.load(std::memory_order_acquire) != 0 && spin.again()) {
  }
}

size_t Stream::in_flight() {
  std::lock_guard lock(mutex_);
  return in_flight_.size() + (open_ && open_->kept_count() != 0 ? 1 : 0);
}

Result<bool> Stream::drain_within(int64_t timeout_ns) {
  Ref<Mark> behind;
  {
    std::lock_guard lock(mutex_);
    const ContextScope scope = context_->enter();
    BATON_TRY_ASSIGN(behind, last());
  }
  if (!behind) {
    wait_for_reapers(kReapersWaitNs);
    return true;
  }
  const auto start = std::chrono::steady_clock::now();
  Spin spin(100'000);
  while (!behind->done()) {
    if (spin.again()) continue;
    if (timeout_ns >= 0 && std::chrono::steady_clock::now() - start > std::chrono::nanoseconds(timeout_ns))
      return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  reap(false);
  wait_for_reapers(kReapersWaitNs);
  return true;
}

Status Stream::drain() {
  const auto drained = drain_within(-1);
  return drained.has_value() ? context_->check() : drained.error().clone();
}

}  // namespace baton::hal::drivers::cuda
