#include "hal/drivers/local/task_pool.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "hal/drivers/local/worker.hpp"
#include "hal/spin.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr size_t kSlotCount = 16;       // Jobs that can be shared at once; more run on their leader alone.
constexpr uint64_t kTilesPerClaim = 8;  // Each participant claims about this often: balance against contention.
constexpr size_t kCacheLine = 64;

struct SharedJob {
  const TileJob& job;
  uint64_t grain;
  alignas(kCacheLine) std::atomic<uint64_t> next_tile{0};

  // Claims and runs one stretch; false when all tiles are claimed.
  bool run_some(Worker& worker) {
    const uint64_t begin = next_tile.fetch_add(grain, std::memory_order_relaxed);
    if (begin >= job.tile_count) return false;
    job.run(job.context, worker, {begin, std::min(begin + grain, job.tile_count)});
    return true;
  }
};

struct alignas(kCacheLine) JobSlot {
  std::atomic<SharedJob*> job{nullptr};
  std::atomic<uint32_t> visitors{0};
};

}  // namespace

class TaskPool::State final : public WaitHelper {
 public:
  explicit State(uint32_t worker_count) : worker_count_(worker_count) {}

  void submit(HostQueue::Task& task) {
    {
      std::lock_guard lock(tasks_mutex_);
      task.next = nullptr;
      (last_task_ ? last_task_->next : first_task_) = &task;
      last_task_ = &task;
      task_count_.store(task_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    announce(1);
  }

  void run_tiles(const TileJob& job) {
    Worker& worker = this_worker();
    SharedJob shared{job, std::max<uint64_t>(1, job.tile_count / ((worker_count_ + 1) * kTilesPerClaim))};
    JobSlot* slot = job.tile_count > 1 ? publish(shared) : nullptr;
    while (shared.run_some(worker)) {
    }
    if (slot) retract(*slot);
  }

  bool help() override {
    if (job_count_.load(std::memory_order_relaxed) == 0) return false;
    Worker& worker = this_worker();
    worker.refresh_processor_id();
    return visit_jobs(worker, 1);  // One stretch: what the thread waits for may be done by now.
  }

  void work() {
    Worker& worker = this_worker();
    Spin spin;
    while (!stopped_.load(std::memory_order_relaxed)) {
      const uint32_t seen = announcements_.load(std::memory_order_seq_cst);
      if (run_task() || has_jobs(worker)) {
        spin = Spin();
      } else if (!spin.again()) {
        sleep_unless_changed(seen);
        spin = Spin();
      }
    }
  }

  void stop() {
    stopped_.store(true);
    announce(worker_count_);
  }

 private:
  // Something new is there for up to `count` workers. A sleeper registers before it looks at the number a last time,
  // and the number is raised before the sleepers are looked at: one of the two sees the other.
  void announce(uint64_t count) {
    announcements_.fetch_add(1, std::memory_order_seq_cst);
    const uint32_t asleep = sleepers_.load(std::memory_order_seq_cst);
    if (asleep == 0) return;
    if (count >= asleep) return announcements_.notify_all();
    for (uint64_t i = 0; i < count; ++i) announcements_.notify_one();
  }

  void sleep_unless_changed(uint32_t seen) {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (!stopped_.load()) announcements_.wait(seen, std::memory_order_seq_cst);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

  bool run_task() {
    if (task_count_.load(std::memory_order_relaxed) == 0) return false;
    HostQueue::Task* task;
    {
      std::lock_guard lock(tasks_mutex_);
      task = first_task_;
      if (!task) return false;
      first_task_ = task->next;
      if (!first_task_) last_task_ = nullptr;
      task_count_.store(task_count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    task->run();
    return true;
  }

  bool has_jobs(Worker& worker) {
    if (job_count_.load(std::memory_order_relaxed) == 0) return false;
    worker.refresh_processor_id();
    return visit_jobs(worker, ~uint64_t{0});
  }

  // Claims up to `claims_max` stretches of the jobs there are. True when it got any.
  bool visit_jobs(Worker& worker, uint64_t claims_max) {
    uint64_t claims = 0;
    for (JobSlot& slot : slots_) {
      if (claims == claims_max) break;
      if (!slot.job.load(std::memory_order_relaxed)) continue;
      slot.visitors.fetch_add(1, std::memory_order_seq_cst);
      if (SharedJob* shared = slot.job.load(std::memory_order_seq_cst)) {
        while (claims < claims_max && shared->run_some(worker)) ++claims;
      }
      slot.visitors.fetch_sub(1, std::memory_order_release);
    }
    return claims != 0;
  }

  JobSlot* publish(SharedJob& shared) {
    for (JobSlot& slot : slots_) {
      SharedJob* empty = nullptr;
      if (!slot.job.compare_exchange_strong(empty, &shared, std::memory_order_seq_cst)) continue;
      job_count_.fetch_add(1, std::memory_order_relaxed);
      announce(shared.job.tile_count - 1);
      return &slot;
    }
    return nullptr;
  }

  // All tiles are claimed: closes the slot to new visitors and waits for those inside.
  void retract(JobSlot& slot) {
    job_count_.fetch_sub(1, std::memory_order_relaxed);
    slot.job.store(nullptr, std::memory_order_seq_cst);
    Spin spin;
    while (slot.visitors.load(std::memory_order_seq_cst) != 0) {
      if (!spin.again()) std::this_thread::yield();  // A visitor was put to sleep in the middle of a tile.
    }
  }

  const uint32_t worker_count_;
  std::atomic<bool> stopped_{false};

  alignas(kCacheLine) std::atomic<uint32_t> announcements_{0};
  std::atomic<uint32_t> sleepers_{0};

  alignas(kCacheLine) std::mutex tasks_mutex_;
  HostQueue::Task* first_task_ = nullptr;  // Guarded by tasks_mutex_, like all three.
  HostQueue::Task* last_task_ = nullptr;
  std::atomic<uint64_t> task_count_{0};  // Atomic for the look without the lock.

  alignas(kCacheLine) std::atomic<uint32_t> job_count_{0};
  JobSlot slots_[kSlotCount];
};

TaskPool::TaskPool(uint32_t worker_count) : state_(make_ref<State>(worker_count)) {
  for (uint32_t i = 0; i < worker_count; ++i) {
    workers_.emplace_back([state = state_] { state->work(); });
  }
}

// The last reference to a device may go with an operation, on a worker: that one can't be joined, but it holds the
// state.
TaskPool::~TaskPool() {
  state_->stop();
  for (std::thread& worker : workers_) {
    if (worker.get_id() == std::this_thread::get_id()) {
      worker.detach();
    } else {
      worker.join();
    }
  }
}

// A worker may have done the task, and let go of the device and its pool with it, before all workers are told.
void TaskPool::submit(HostQueue::Task& task) {
  const Ref<State> state = state_;
  state->submit(task);
}
void TaskPool::run_tiles(const TileJob& job) { state_->run_tiles(job); }
Ref<WaitHelper> TaskPool::wait_helper() const { return state_; }

}  // namespace baton::hal::drivers::local
