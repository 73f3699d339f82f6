#include "hal/drivers/cuda/worker.hpp"

#include <chrono>
#include <cstdlib>
#include <unordered_set>

#include "hal/drivers/common/end_thread.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// A waiter of a watch is told within this. Memory that is to be let go of can wait longer.
constexpr std::chrono::microseconds kWatchPause{10};
constexpr std::chrono::milliseconds kReapPause{1};
constexpr std::chrono::milliseconds kGuardPause{1};
// Falling asleep at once would cost the next submission a wake by the kernel (3 us).
constexpr int kIdleRounds = 50;
// Tables that were bound last are kept over so many rounds without work.
constexpr int kBoundRounds = 10;
// How long the end of the process waits for a thread that is in a host call of the user's.
constexpr std::chrono::seconds kLeavePause{1};

// The threads of all workers. libcuda takes itself down when the process ends, and a thread that lets go of something
// meanwhile crashes in it. The handler is registered when libcuda is open, so it runs before libcuda's own.
class Threads {
 public:
  static Threads& all() {
    static Threads* const threads = [] {
      std::atexit([] { all().end(); });
      return new Threads();  // Never destroyed: a thread may be late.
    }();
    return *threads;
  }

  void add(Worker& worker) {
    const std::lock_guard lock(mutex_);
    working_.insert(&worker);
  }
  // The thread works no more, and lets go of its worker.
  void remove(Worker& worker) {
    const std::lock_guard lock(mutex_);
    working_.erase(&worker);
    ++ending_;
  }
  void ended() {
    const std::lock_guard lock(mutex_);
    --ending_;
    changed_.notify_all();
  }

 private:
  // No reference is taken: the last one to a worker must go on its own thread, this one has lost its thread_locals.
  void end() {
    std::unique_lock lock(mutex_);
    const auto give_up = std::chrono::steady_clock::now() + kLeavePause;
    while (!(working_.empty() && ending_ == 0) && std::chrono::steady_clock::now() < give_up) {
      for (Worker* worker : working_) worker->leave();
      changed_.wait_for(lock, kReapPause);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_set<Worker*> working_;  // Guarded by mutex_; each lives while it is in it.
  int ending_ = 0;                       // Guarded by mutex_.
};

}  // namespace

void Worker::start(Lock&) {
  if (thread_.joinable() || stopping_) return;
  Threads::all().add(*this);
  thread_ = std::thread(main, Ref<Worker>(this));
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

void Worker::main(Ref<Worker> worker) {
  worker->work();
  Threads::all().remove(*worker);
  worker = {};
  Threads::all().ended();
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
