#include "hal/drivers/cuda/worker.hpp"

#include <chrono>

namespace baton::hal::drivers::cuda {
namespace {

// The longest that a waiter of a watch waits for its notice. Releasing memory can wait longer.
constexpr std::chrono::microseconds kWatchPause{10};
constexpr std::chrono::milliseconds kReapPause{1};
constexpr std::chrono::milliseconds kGuardPause{1};
// Falling asleep at once would cost the next submission a wake by the kernel (3 us).
constexpr int kIdleRounds = 50;
// Tables that were bound last are kept over so many rounds without work.
constexpr int kBoundRounds = 10;

}  // namespace

void Worker::start(Lock&) {
  if (thread_.joinable() || stopping_) return;
  thread_ = start_device_thread(Ref<Worker>(this));
}

void Worker::post(Task& task) {
  Lock lock(mutex_);
  tasks_.push_back(&task);
  awake_ = true;
  start(lock);
  changed_.notify_one();
}

void Worker::watch(std::unique_ptr<Watch> watch) {
  Lock lock(mutex_);
  if (stopping_) {  // The device is gone, so this is about work of another: rare enough to wait for here.
    lock.unlock();
    while (!watch->finished()) std::this_thread::sleep_for(kWatchPause);
    return;
  }
  new_watches_.push_back(std::move(watch));
  awake_ = true;
  start(lock);
  changed_.notify_one();
}

void Worker::add_guard(std::weak_ptr<Guard> guard) {
  const std::lock_guard lock(guards_mutex_);
  std::erase_if(guards_, [](const std::weak_ptr<Guard>& each) { return each.expired(); });
  guards_.push_back(std::move(guard));
}

// Without the lock: a guard may be let go of meanwhile, and be the last to hold something of the device's.
void Worker::look_at_guards() {
  const auto now = std::chrono::steady_clock::now();
  if (now - guards_seen_ < kGuardPause) return;
  guards_seen_ = now;
  std::vector<std::weak_ptr<Guard>> guards;
  {
    const std::lock_guard lock(guards_mutex_);
    if (guards_.empty()) return;
    guards = guards_;
  }
  for (const std::weak_ptr<Guard>& each : guards) {
    if (const auto guard = each.lock()) guard->look();
  }
}

void Worker::wake() {
  Lock lock(mutex_);
  awake_ = true;
  start(lock);
  changed_.notify_one();
}

void Worker::stop() {
  std::thread thread;
  {
    Lock lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
    changed_.notify_one();
  }
  end_thread(std::move(thread));
}

// Without the lock, under which threads are added to those that are told to leave. A notice that comes too early is
// followed by another.
void Worker::leave() {
  leaving_ = true;
  changed_.notify_one();
}

bool Worker::poll_watches() {
  for (size_t i = 0; i < watches_.size();) {
    if (!watches_[i]->finished()) {
      ++i;
      continue;
    }
    std::swap(watches_[i], watches_.back());
    watches_.pop_back();
  }
  return !watches_.empty();
}

size_t Worker::reap() {
  size_t in_flight = 0;
  for (const Ref<Stream>& stream : streams_) in_flight += stream->reap(true);
  return in_flight;
}

void Worker::drop_bound_tables() {
  for (const Ref<Stream>& stream : streams_) stream->drop_bound_tables();
}

// Whether there was a task. The lock is held on entry and on return, not in between.
bool Worker::round(Lock& lock) {
  Task* task = nullptr;
  if (!tasks_.empty()) {
    task = tasks_.front();
    tasks_.pop_front();
  }
  for (auto& watch : new_watches_) watches_.push_back(std::move(watch));
  new_watches_.clear();
  lock.unlock();
  if (task) task->run();
  poll_watches();
  look_at_guards();
  lock.lock();
  return task != nullptr;
}

void Worker::work() {
  int idle_rounds = 0;
  Lock lock(mutex_);
  while (true) {
    if (round(lock) || !tasks_.empty() || !new_watches_.empty()) continue;
    if (stopping_) return;
    if (!watches_.empty()) {
      changed_.wait_for(lock, kWatchPause);
      continue;
    }
    const bool leaving = leaving_;
    lock.unlock();
    const size_t in_flight = reap();
    if (leaving || idle_rounds % kBoundRounds == kBoundRounds - 1) drop_bound_tables();
    lock.lock();
    if (!tasks_.empty() || !new_watches_.empty()) continue;
    if (stopping_ || (leaving && in_flight == 0)) return;
    idle_rounds = in_flight ? 0 : idle_rounds + 1;
    if (idle_rounds < kIdleRounds) {
      changed_.wait_for(lock, kReapPause);
      continue;
    }
    idle_rounds = 0;
    awake_ = false;
    // A thread that enqueued and still saw this one awake did so before it looked: its work is seen now.
    lock.unlock();
    const bool missed = reap() != 0;
    if (!missed) drop_bound_tables();
    lock.lock();
    if (missed) awake_ = true;
    changed_.wait(lock, [&] { return awake_ || stopping_ || leaving_; });
  }
}

}  // namespace baton::hal::drivers::cuda
