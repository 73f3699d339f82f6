#include "hal/drivers/cuda/semaphore.hpp"

#include <algorithm>
#include <chrono>

#include "hal/drivers/common/spin.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// A thread that waits looks this long before it sleeps between looks: a wake by the driver costs more.
constexpr int64_t kSpinNs = 3'000'000;
// Then it naps for a fiftieth of what it has waited: late by two percent at most, and awake ever less often.
constexpr int64_t kNapShare = 50;
constexpr std::chrono::nanoseconds kNapMax{1'000'000};

// Moves the waiters that `value` satisfies, oldest first.
template <typename Waiting, typename Waiter>
void take_up_to(uint64_t value, std::vector<Waiting>& waiting, std::vector<Waiter*>& taken) {
  size_t left = 0;
  for (const Waiting& one : waiting) {
    if (one.value <= value) {
      taken.push_back(one.waiter);
    } else {
      waiting[left++] = one;
    }
  }
  waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(left), waiting.end());
}

class SemaphoreWatch final : public Worker::Watch {
 public:
  explicit SemaphoreWatch(Semaphore& semaphore) : semaphore_(&semaphore) {}
  bool finished() override { return !semaphore_->poll(); }

 private:
  Ref<Semaphore> semaphore_;
};

}  // namespace

Semaphore::~Semaphore() {
  if (waiters_.empty() && schedule_waiters_.empty()) return;
  fail(failure(StatusCode::kAborted, "The semaphore went away before it reached what was waited for."));
}

Status Semaphore::outcome() { return has_failed() ? failure_.clone() : Status(); }

Status Semaphore::failure_status() { return outcome(); }

Result<uint64_t> Semaphore::query() {
  poll();
  let_go();
  const uint64_t now = value_.load(std::memory_order_acquire);
  if (now == kFailed) return failure_.clone();
  return now;
}

// The lock is held by all functions from here to call().
void Semaphore::raise(uint64_t value) {
  if (value <= value_.load(std::memory_order_relaxed)) return;
  value_.store(value, std::memory_order_release);
  untold_ = true;
}

void Semaphore::fail_locked(const Status& status) {
  if (has_failed()) return;
  failure_ = status.clone();
  value_.store(kFailed, std::memory_order_release);
  untold_ = true;
}

// What the oldest of pending_ came to, whose mark is done.
void Semaphore::pop_pending() {
  const Scheduled oldest = pending_.pop();
  const Status status = oldest.mark->outcome();
  status.ok() ? raise(oldest.value) : fail_locked(status);
}

void Semaphore::advance() {
  while (!pending_.empty() && !has_failed() && pending_.front().mark->done()) {
    Stream& stream = pending_.front().mark->stream();
    if (last_stream_.get() != &stream) last_stream_ = Ref<Stream>(&stream);
    pop_pending();
  }
  if (has_failed()) pending_ = {};
}

// Takes over what is known without asking the device.
void Semaphore::sweep() {
  while (!pending_.empty() && !has_failed() && pending_.front().mark->known_done()) pop_pending();
  if (has_failed()) [[unlikely]]
    pending_ = {};
}

void Semaphore::wake_sleepers() {
  if (sleeper_count_ != 0) changed_.notify_all();
}

// Whoever saw the value rise: those who wait for it are told by the next who holds the lock and may call them.
void Semaphore::take_reached(Calls& calls) {
  if (!untold_) return;
  untold_ = false;
  wake_sleepers();
  if (!has_waiters_) return;
  const uint64_t now = value_.load(std::memory_order_relaxed);
  take_up_to(now, waiters_, calls.waiters);
  take_up_to(now, schedule_waiters_, calls.schedule_waiters);
  has_waiters_ = !waiters_.empty() || !schedule_waiters_.empty();
}

void Semaphore::take_scheduled(uint64_t value, Calls& calls) {
  take_up_to(value, schedule_waiters_, calls.schedule_waiters);
  has_waiters_ = !waiters_.empty() || !schedule_waiters_.empty();
}

// The worker must look when a thread or a waiter waits for a value that the device will reach, or has reached untold.
bool Semaphore::wants_watch() const {
  if (untold_ && (has_waiters_ || sleeper_count_ != 0)) return true;
  if (pending_.empty()) return false;
  return std::any_of(waiters_.begin(), waiters_.end(),
                     [&](const Waiting& one) { return one.value <= pending_.back().value; });
}

Ref<Mark> Semaphore::mark_of(uint64_t value) const {
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].value >= value) return pending_[i].mark;
  }
  return nullptr;
}

// Without the lock.
void Semaphore::call(Calls& calls) {
  for (SemaphoreWaiter* waiter : calls.waiters) waiter->reached(outcome());
  for (ScheduleWaiter* waiter : calls.schedule_waiters) waiter->scheduled(outcome(), calls.mark);
}

void Semaphore::watch_if_wanted(bool wanted) {
  if (wanted) worker_->watch(std::make_unique<SemaphoreWatch>(*this));
}

bool Semaphore::poll() {
  Calls calls;
  bool wanted;
  {
    std::lock_guard lock(mutex_);
    advance();
    take_reached(calls);
    wanted = wants_watch();
    if (!wanted) watched_ = false;
  }
  call(calls);
  return wanted;
}

Status Semaphore::signal(uint64_t value) {
  Calls calls;
  {
    std::lock_guard lock(mutex_);
    advance();
    if (has_failed()) return failure_.clone();
    const uint64_t now = value_.load(std::memory_order_relaxed);
    if (value <= now || value > kValueMax) {
      return failure(StatusCode::kInvalidArgument, "Semaphore signal to ", value, " is not above its value (", now,
                     ").");
    }
    raise(value);
    take_reached(calls);
  }
  call(calls);
  return {};
}

void Semaphore::fail(const Status& status) {
  Calls calls;
  {
    std::lock_guard lock(mutex_);
    if (has_failed()) return;
    fail_locked(status);
    pending_ = {};
    take_reached(calls);
  }
  call(calls);
}

void Semaphore::add_pending(uint64_t value, Ref<Mark> mark) {
  pending_.push({value, std::move(mark)});
  for (size_t at = pending_.size() - 1; at > 0 && pending_[at - 1].value > value; --at) {
    std::swap(pending_[at - 1], pending_[at]);
  }
  if (scheduled_.load(std::memory_order_relaxed) < value) scheduled_.store(value, std::memory_order_release);
}

void Semaphore::schedule(uint64_t value, Ref<Mark> mark) {
  Calls calls;
  bool wanted;
  {
    std::lock_guard lock(mutex_);
    // Does not ask the device: drops marks that are known to be done, so that the ring does not grow.
    sweep();
    const bool waited_for = has_waiters_ || sleeper_count_ != 0;
    if (waited_for) calls.mark = mark;
    if (!has_failed()) add_pending(value, std::move(mark));
    if (!waited_for) return;
    take_reached(calls);
    take_scheduled(value, calls);
    wanted = wants_watch() && !watched_;
    watched_ |= wanted;
    wake_sleepers();
  }
  watch_if_wanted(wanted);
  call(calls);
}

void Semaphore::notify(uint64_t value, SemaphoreWaiter& waiter) {
  Calls calls;
  bool is_done, wanted = false;
  {
    std::lock_guard lock(mutex_);
    advance();
    take_reached(calls);
    is_done = done(value);
    if (!is_done) {
      waiters_.push_back({value, &waiter});
      has_waiters_ = true;
      wanted = wants_watch() && !watched_;
      watched_ |= wanted;
    }
  }
  watch_if_wanted(wanted);
  call(calls);
  if (is_done) waiter.reached(outcome());
}

Semaphore::Place Semaphore::find(uint64_t value, Ref<Mark>& mark) {
  if (done(value)) return has_failed() ? Place::kFailed : Place::kReached;
  if (scheduled_.load(std::memory_order_acquire) < value) return Place::kFuture;
  bool wanted = false;
  {
    std::lock_guard lock(mutex_);
    if (!done(value)) {
      mark = mark_of(value);
      if (!mark) return Place::kFuture;
      if (!mark->done()) return Place::kScheduled;
      advance();
      mark = nullptr;
      // The caller may hold locks, so the worker tells those who wait.
      wanted = wants_watch() && !watched_;
      watched_ |= wanted;
    }
  }
  watch_if_wanted(wanted);
  return has_failed() ? Place::kFailed : Place::kReached;
}

void Semaphore::notify_scheduled(uint64_t value, ScheduleWaiter& waiter) {
  Calls calls;
  Ref<Mark> mark;
  bool is_future = false;
  {
    std::lock_guard lock(mutex_);
    advance();
    take_reached(calls);
    if (!done(value)) {
      mark = mark_of(value);
      is_future = !mark;
    }
    if (is_future) {
      schedule_waiters_.push_back({value, &waiter});
      has_waiters_ = true;
    }
  }
  call(calls);
  if (!is_future) waiter.scheduled(outcome(), std::move(mark));
}

bool Semaphore::spin_until_done(uint64_t value, int64_t timeout_ns) {
  if (done(value)) return true;
  poll();
  if (done(value) || timeout_ns == 0) return done(value);
  Spin spin(timeout_ns > 0 && timeout_ns < kSpinNs ? timeout_ns : kSpinNs);
  while (spin.again()) {
    if (scheduled_.load(std::memory_order_acquire) >= value) poll();
    if (done(value)) return true;
  }
  return false;
}

// What the work kept goes now, on the thread that waited for it or saw it done, and not some time later on the
// worker's: a host that waits for its work and drops the device has dropped it; and handles of libraries that functions
// of the user's keep do not go while that host's next work is captured, which would break it.
void Semaphore::let_go() {
  Ref<Stream> stream;
  {
    std::lock_guard lock(mutex_);
    stream = std::exchange(last_stream_, nullptr);
  }
  if (!stream) return;
  stream->reap(false);
  stream->wait_for_reapers();
}

Status Semaphore::wait(uint64_t value, int64_t timeout_ns) {
  const auto start = Clock::now();
  if (spin_until_done(value, timeout_ns)) {
    let_go();
    return outcome();
  }
  const auto deadline = start + std::chrono::nanoseconds(timeout_ns);
  std::unique_lock lock(mutex_);
  while (!done(value)) {
    if (timeout_ns >= 0 && Clock::now() >= deadline) {
      return failure(StatusCode::kDeadlineExceeded, "Semaphore did not reach ", value, " within ", timeout_ns,
                     " ns (value ", value_.load(), ").");
    }
    if (mark_of(value)) {  // The device is on its way: look now and then.
      lock.unlock();
      std::this_thread::sleep_for(std::min<Clock::duration>((Clock::now() - start) / kNapShare, kNapMax));
      poll();
      lock.lock();
    } else {
      ++sleeper_count_;
      timeout_ns < 0 ? changed_.wait(lock) : void(changed_.wait_until(lock, deadline));
      --sleeper_count_;
    }
  }
  lock.unlock();
  let_go();
  return outcome();
}

}  // namespace baton::hal::drivers::cuda
