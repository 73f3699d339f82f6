#include "hal/drivers/local/task_pool.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "hal/drivers/common/host_turn.hpp"
#include "hal/drivers/common/spin.hpp"

namespace baton::hal::drivers::local {
namespace {

// The time from queueing a task to its notice, with workers awake.
constexpr double kHandOverNs = 300;

}  // namespace

class TaskPool::State final : public WaitHelper, public HostTurnListener {
 public:
  explicit State(const TaskPoolOptions& options)
      : options_(options), idle_(options.worker_count, options.spin_ns), jobs_(idle_, options.worker_count) {}

  void submit(Task& task) {
    {
      std::lock_guard lock(tasks_mutex_);
      task.next = nullptr;
      *tasks_end_ = &task;
      tasks_end_ = &task.next;
      task_count_.fetch_add(1);
      ++tasks_submitted_;
    }
    idle_.announce();
    if (host_turns_.load() >= options_.worker_count) [[unlikely]]
      call_spare();
    if (here.last_act == this) {
      here.owes_wake = true;
    } else if (idle_.missing(1) != 0) {
      idle_.wake_one();
    }
  }

  double inline_ns() const {
    if (options_.inline_ns >= 0) return static_cast<double>(options_.inline_ns);
    return idle_.all_sleep() ? idle_.wake_ns() : kHandOverNs;
  }

  void run_tiles(const TileJob& job) { jobs_.run(job, this_worker()); }

  bool help(Awaited& awaited) override {
    pay_wake();
    if (Task* task = take_task_for(awaited)) {
      // Its own, not those of a worker that waits inside of a task: that one does not go on with tasks afterwards.
      const Here before = std::exchange(here, Here{.worker_of = here.worker_of, .helper_of = this});
      while (task) {
        task->run();
        task = here.owes_wake ? take_task_for(awaited) : nullptr;
        pay_wake();  // For what it leaves behind.
      }
      here = before;
      return true;
    }
    if (!jobs_.any()) return false;
    Worker& worker = this_worker();
    worker.refresh_processor_id();
    return jobs_.visit_briefly(worker);  // What the thread waits for may be done by then.
  }

  void work(uint32_t index) {
    Worker& worker = this_worker();
    HostTurnListener::of_this_thread = this;
    Spin spin(idle_.spin_ns());
    for (idle_.set_searching(index, true);;) {
      const uint32_t seen = idle_.look();
      if (stopped_.load()) return;
      if (work_once(index, worker)) {
        spin = Spin(idle_.spin_ns());
      } else if (!spin.again()) {
        idle_.set_searching(index, false);
        idle_.sleep_unless_changed(seen);
        idle_.set_searching(index, true);
        spin = Spin(idle_.spin_ns());
      }
    }
  }

  void stop() {
    stopped_.store(true);
    idle_.announce();
    idle_.wake_all();
    std::lock_guard lock(spares_mutex_);
    spares_changed_.notify_all();
  }
  // Once it is stopped.
  std::vector<std::thread> take_spares() {
    std::lock_guard lock(spares_mutex_);
    return std::exchange(spares_, {});
  }

  void turn_begins() override {
    if (host_turns_.fetch_add(1) + 1 >= options_.worker_count && task_count_.load() != 0) call_spare();
  }
  void turn_ends() override { host_turns_.fetch_sub(1); }

  // False when the thread is in one already.
  bool begin_last_act() { return !std::exchange(here.last_act, this); }
  void end_last_act() {
    here.last_act = nullptr;
    if (here.helper_of == this) return;  // help() looks for more, and pays.
    if (here.worker_of != this) return pay_wake();
    if (!std::exchange(here.owes_wake, false)) return;
    // This worker takes one of them.
    if (task_count_.load() > 1 && idle_.missing(1) != 0) idle_.wake_one();
  }

 private:
  // What the pools know of the thread.
  struct Here {
    const State* worker_of = nullptr;  // It is in a task that it took as a worker.
    const State* helper_of = nullptr;  // It is in a task that it took because it waits for it.
    const State* last_act = nullptr;
    bool owes_wake = false;
  };
  static thread_local Here here;

  // Of this pool all threads are in code of the host, and tasks wait.
  bool wants_spare() const {
    return task_count_.load() != 0 && host_turns_.load() >= options_.worker_count + spares_busy_;
  }

  // A spare thread takes tasks while wants_spare(). It has looked a while whether a worker does.
  void call_spare() {
    std::lock_guard lock(spares_mutex_);
    if (!wants_spare() || stopped_.load()) return;
    if (spares_busy_ < spares_.size()) return spares_changed_.notify_one();
    if (spares_.size() < kHostThreadsMax) spares_.emplace_back([state = Ref<State>(this)] { state->work_as_spare(); });
  }

  void work_as_spare() {
    HostTurnListener::of_this_thread = this;
    Worker& worker = this_worker();
    std::unique_lock lock(spares_mutex_);
    while (true) {
      spares_changed_.wait(lock, [&] { return stopped_.load() || wants_spare(); });
      spares_changed_.wait_for(lock, kSparePatience, [&] { return stopped_.load(); });
      if (stopped_.load()) return;
      while (wants_spare()) {
        ++spares_busy_;
        lock.unlock();
        worker.refresh_processor_id();
        run_a_task();
        lock.lock();
        --spares_busy_;
      }
    }
  }

  void run_a_task() {
    std::unique_lock lock(tasks_mutex_);
    Task* const task = first_task_ ? take(first_task_) : nullptr;
    lock.unlock();
    if (!task) return;
    here.worker_of = this;
    task->run();
    here.worker_of = nullptr;
  }

  void pay_wake() {
    if (std::exchange(here.owes_wake, false) && task_count_.load() != 0 && idle_.missing(1) != 0) idle_.wake_one();
  }

  // False when there is nothing to do.
  bool work_once(uint32_t index, Worker& worker) {
    if (task_count_.load(std::memory_order_relaxed) != 0) {
      // Who finds the lock taken looks again: with many idle workers waiting for it would be slower than the task.
      std::unique_lock lock(tasks_mutex_, std::try_to_lock);
      if (!lock) return true;
      Task* task = first_task_ ? take(first_task_) : nullptr;
      lock.unlock();
      if (task) {
        begin_work(index);
        here.worker_of = this;
        task->run();
        here.worker_of = nullptr;
        idle_.set_searching(index, true);
        return true;
      }
    }
    if (!jobs_.any()) return false;
    begin_work(index);
    worker.refresh_processor_id();
    const bool worked = jobs_.visit(worker);
    idle_.set_searching(index, true);
    return worked;
  }

  // Who counted on this worker finds it gone: what it leaves behind is for the next one.
  void begin_work(uint32_t index) {
    idle_.set_searching(index, false);
    if (task_count_.load() != 0 && idle_.missing(1) != 0) idle_.wake_one();
  }

  Task* take_task_for(Awaited& awaited) {
    if (task_count_.load(std::memory_order_relaxed) == 0) return nullptr;
    std::lock_guard lock(tasks_mutex_);
    if (awaited.tasks_seen == tasks_submitted_) return nullptr;
    awaited.tasks_seen = tasks_submitted_;
    Awaited wanted = awaited;
    wanted.by_worker = here.worker_of == this;
    for (Task** link = &first_task_; *link; link = &(*link)->next) {
      if ((*link)->may_run_for(wanted)) return take(*link);
    }
    return nullptr;
  }

  // Unlinks the task that `link` points to. The lock is held.
  Task* take(Task*& link) {
    Task* task = link;
    link = task->next;
    if (!link) tasks_end_ = &link;
    task_count_.fetch_sub(1);
    return task;
  }

  const TaskPoolOptions options_;
  std::atomic<bool> stopped_{false};
  IdleWorkers idle_;
  SharedJobs jobs_;

  alignas(64) std::mutex tasks_mutex_;
  Task* first_task_ = nullptr;  // Guarded by tasks_mutex_, like all four.
  Task** tasks_end_ = &first_task_;
  uint64_t tasks_submitted_ = 0;
  std::atomic<uint64_t> task_count_{0};  // Atomic for the look without the lock.

  // How many threads are in code of the host. Raised before they look at task_count_, which is raised before host_turns_ is
  // looked at: one of the two sees the other.
  alignas(64) std::atomic<uint64_t> host_turns_{0};
  std::mutex spares_mutex_;
  std::condition_variable spares_changed_;
  std::vector<std::thread> spares_;  // Guarded by spares_mutex_, like what follows.
  size_t spares_busy_ = 0;           // How many of them are in tasks.
};

thread_local TaskPool::State::Here TaskPool::State::here;

TaskPool::TaskPool(const TaskPoolOptions& options) : state_(make_ref<State>(options)) {
  for (uint32_t i = 0; i < options.worker_count; ++i) {
    workers_.emplace_back([state = state_, i] { state->work(i); });
  }
}

// The last reference to a device may go with an operation, on a worker: that one can't be joined, but it holds the
// state.
TaskPool::~TaskPool() {
  if (!has_workers()) {  // The workers stayed in the parent: none can be joined or detached.
    new std::vector<std::thread>(std::move(workers_));
    return;
  }
  state_->stop();
  for (std::thread& spare : state_->take_spares()) workers_.push_back(std::move(spare));
  for (std::thread& worker : workers_) {
    if (worker.get_id() == std::this_thread::get_id()) {
      worker.detach();
    } else {
      worker.join();
    }
  }
}

// A worker may have done the task, and let go of the device and its pool with it, before all workers are told.
void TaskPool::submit(Task& task) {
  const Ref<State> state = state_;
  state->submit(task);
}
double TaskPool::inline_ns() const { return state_->inline_ns(); }
void TaskPool::run_tiles(const TileJob& job) { state_->run_tiles(job); }
Ref<WaitHelper> TaskPool::wait_helper() const { return state_; }

TaskPool::LastAct::LastAct(TaskPool& pool) : state_(pool.state_->begin_last_act() ? pool.state_.get() : nullptr) {}
TaskPool::LastAct::~LastAct() {
  if (state_) state_->end_last_act();
}

}  // namespace baton::hal::drivers::local
