#include "hal/drivers/cuda/worker.hpp"

#include <chrono>

namespace baton::hal::drivers::cuda {
namespace {

// A waiter of a watch hears of it within this; nobody waits for memory to be let go of.
constexpr std::chrono::microseconds kWatchPause{10};
constexpr std::chrono::milliseconds kReapPause{1};
// Falling asleep at once would cost the next submission a wake by the kernel (3 us).
constexpr int kIdleRounds = 50;
// Tables that were bound last are kept over so many rounds without work.
constexpr int kBoundRounds = 10;

}  // namespace

void Worker::start(Lock&) {
  if (!thread_.joinable() && !stopping_) thread_ = std::thread(main, Ref<Worker>(this));
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
  if (!thread.joinable()) return;
  // The last reference to the device may go in a task: then the thread ends by itself, a little later.
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
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
  lock.lock();
  return task != nullptr;
}

void Worker::main(Ref<Worker> worker) {
  int idle_rounds = 0;
  Lock lock(worker->mutex_);
  while (true) {
    if (worker->round(lock) || !worker->tasks_.empty() || !worker->new_watches_.empty()) continue;
    if (worker->stopping_) return;
    if (!worker->watches_.empty()) {
      worker->changed_.wait_for(lock, kWatchPause);
      continue;
    }
    lock.unlock();
    const size_t in_flight = worker->reap();
    if (idle_rounds % kBoundRounds == kBoundRounds - 1) worker->drop_bound_tables();
    lock.lock();
    if (!worker->tasks_.empty() || !worker->new_watches_.empty()) continue;
    if (worker->stopping_) return;
    idle_rounds = in_flight ? 0 : idle_rounds + 1;
    if (idle_rounds < kIdleRounds) {
      worker->changed_.wait_for(lock, kReapPause);
      continue;
    }
    idle_rounds = 0;
    worker->awake_ = false;
    // Whoever enqueued and still saw us awake is seen now: it enqueued before it looked.
    lock.unlock();
    const bool missed = worker->reap() != 0;
    if (!missed) worker->drop_bound_tables();
    lock.lock();
    if (missed) worker->awake_ = true;
    worker->changed_.wait(lock, [&] { return worker->awake_ || worker->stopping_; });
  }
}

}  // namespace baton::hal::drivers::cuda
