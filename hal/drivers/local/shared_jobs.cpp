#include "hal/drivers/local/shared_jobs.hpp"

#include <sched.h>

#include <algorithm>

#include "hal/spin.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr uint64_t kTilesPerClaim = 8;  // Each participant claims about this often: balance against contention.
constexpr int64_t kSharingNs = 500;     // What letting in another thread costs, twice over.
constexpr uint64_t kGrowth = 8;         // A leader alone runs at most so many times what it has timed before it looks.

}  // namespace

class SharedJobs::Job {
 public:
  Job(const TileJob& job, uint64_t begin, uint64_t claims)
      : job_(job), grain_(std::max<uint64_t>(1, (job.tile_count - begin) / claims)), next_tile_(begin) {}

  // Claims and runs one stretch, and says how long it was; 0 when all tiles are claimed.
  uint64_t run_some(Worker& worker) {
    const uint64_t begin = next_tile_.fetch_add(grain_, std::memory_order_relaxed);
    if (begin >= job_.tile_count) return 0;
    const uint64_t end = std::min(begin + grain_, job_.tile_count);
    job_.run(job_.context, worker, {begin, end});
    return end - begin;
  }

  uint64_t tiles_left() const {
    const uint64_t next = next_tile_.load(std::memory_order_relaxed);
    return next < job_.tile_count ? job_.tile_count - next : 0;
  }

  void call(uint32_t sleepers) { uncalled_.store(static_cast<int32_t>(sleepers), std::memory_order_relaxed); }
  // Wakes up to `count` of those that are still to be called.
  void wake(IdleWorkers& idle, int count) {
    for (; count > 0 && uncalled_.load(std::memory_order_relaxed) > 0 && tiles_left() > 0; --count) {
      if (uncalled_.fetch_sub(1, std::memory_order_relaxed) > 0) idle.wake_one();
    }
  }

 private:
  const TileJob& job_;
  const uint64_t grain_;
  std::atomic<int32_t> uncalled_{0};
  alignas(kCacheLine) std::atomic<uint64_t> next_tile_;
};

void SharedJobs::run(const TileJob& job, Worker& worker) {
  Progress progress{0, job.tile_cost ? job.tile_cost->ns() : 0};
  const bool brief = progress.tile_ns != 0 && progress.tile_ns * static_cast<double>(job.tile_count) <= kSharingNs;
  if (brief || job.tile_count <= 1) progress = run_alone(job, worker);
  if (progress.done < job.tile_count) share(job, progress, worker);
}

// Stops where the rest is worth sharing.
SharedJobs::Progress SharedJobs::run_alone(const TileJob& job, Worker& worker) {
  const int64_t start_ns = monotonic_ns();
  uint64_t done = 0;
  int64_t spent_ns = 0;
  for (uint64_t stretch = 1; done < job.tile_count && spent_ns <= kSharingNs; stretch = done * kGrowth) {
    const uint64_t end = std::min(done + stretch, job.tile_count);
    job.run(job.context, worker, {done, end});
    done = end;
    spent_ns = monotonic_ns() - start_ns;
  }
  if (done == 0) return {};
  if (job.tile_cost) job.tile_cost->add(spent_ns, done);
  return {done, static_cast<double>(spent_ns) / static_cast<double>(done)};
}

void SharedJobs::share(const TileJob& job, const Progress& progress, Worker& worker) {
  Job shared(job, progress.done, (worker_count_ + 1) * kTilesPerClaim);
  Slot* slot = publish(shared);
  const double expected_ns = progress.tile_ns * static_cast<double>(job.tile_count - progress.done);
  bool called = !slot;
  if (!called && (expected_ns == 0 || expected_ns > idle_.arrival_ns())) {
    call_others(shared);
    called = true;
  }
  const int64_t start_ns = monotonic_ns();
  bool timed = false;
  for (uint64_t done = 0; const uint64_t tiles = shared.run_some(worker);) {
    if (timed && called) continue;
    done += tiles;
    const int64_t spent_ns = monotonic_ns() - start_ns;
    if (!timed && job.tile_cost) job.tile_cost->add(spent_ns, done);
    timed = true;
    if (called || static_cast<double>(spent_ns) < idle_.arrival_ns()) continue;
    call_others(shared);
    called = true;
  }
  if (slot) retract(*slot);
}

bool SharedJobs::visit(Worker& worker, uint64_t claims_max) {
  uint64_t claims = 0;
  for (Slot& slot : slots_) {
    if (claims == claims_max) break;
    if (!slot.job.load(std::memory_order_relaxed)) continue;
    slot.visitors.fetch_add(1, std::memory_order_seq_cst);
    if (Job* job = slot.job.load(std::memory_order_seq_cst)) {
      job->wake(idle_, 2);
      while (claims < claims_max && job->run_some(worker) != 0) ++claims;
    }
    slot.visitors.fetch_sub(1, std::memory_order_release);
  }
  return claims != 0;
}

SharedJobs::Slot* SharedJobs::publish(Job& job) {
  for (Slot& slot : slots_) {
    Job* empty = nullptr;
    if (!slot.job.compare_exchange_strong(empty, &job, std::memory_order_seq_cst)) continue;
    job_count_.fetch_add(1, std::memory_order_relaxed);
    idle_.announce();
    return &slot;
  }
  return nullptr;
}

void SharedJobs::call_others(Job& job) {
  const uint64_t left = job.tiles_left();
  if (left <= 1) return;  // The leader's.
  job.call(idle_.missing(std::min<uint64_t>(left - 1, worker_count_)));
  job.wake(idle_, 1);
}

// All tiles are claimed: closes the slot to new visitors and waits for those inside.
void SharedJobs::retract(Slot& slot) {
  job_count_.fetch_sub(1, std::memory_order_relaxed);
  slot.job.store(nullptr, std::memory_order_seq_cst);
  Spin spin;
  while (slot.visitors.load(std::memory_order_seq_cst) != 0) {
    if (!spin.again()) sched_yield();  // A visitor was put to sleep in the middle of a tile.
  }
}

}  // namespace baton::hal::drivers::local
