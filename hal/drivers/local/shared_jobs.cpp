#include "hal/drivers/local/shared_jobs.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "hal/drivers/common/spin.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr uint64_t kTilesPerClaim = 8;  // Each participant claims about this often: balance against contention.
// What sharing costs with many idle workers, which all come and look: 0.3 us with one on a 2-core EPYC, 4-6 us with 31
// on a 32-core Xeon.
constexpr double kSharingNs = 200, kSharingNsPerWorker = 100;
constexpr int64_t kVisitNs = 50'000;
constexpr uint64_t kGrowth = 8;  // A leader alone runs at most so many times what it has timed before it looks.

// What a look at the clock adds to what lies between two of them: more than a small tile takes.
int64_t look_ns() {
  static const int64_t least_ns = [] {
    int64_t least = 1'000;
    for (int i = 0; i < 32; ++i) {
      const int64_t begin_ns = monotonic_ns();
      least = std::min(least, monotonic_ns() - begin_ns);
    }
    return least;
  }();
  return least_ns;
}

}  // namespace

SharedJobs::SharedJobs(IdleWorkers& idle, uint32_t worker_count)
    : idle_(idle), worker_count_(worker_count), brief_ns_(2 * (kSharingNs + kSharingNsPerWorker * worker_count)) {}

class SharedJobs::Job {
 public:
  Job(const TileJob& job, uint64_t begin, uint64_t claims)
      : job_(job), grain_(std::max<uint64_t>(1, (job.tile_count - begin) / claims)), next_tile_(begin) {}

  // Claims and runs one stretch, and says how many tiles it had; 0 when all are claimed. Adds to `cost` what they took:
  // without the claim, which others may hold up.
  uint64_t run_some(Worker& worker, MeasuredCost* cost = nullptr, uint64_t tiles_max = ~uint64_t{0}) {
    const uint64_t tiles = std::min(grain_, tiles_max);
    const uint64_t begin = next_tile_.fetch_add(tiles, std::memory_order_relaxed);
    if (begin >= job_.tile_count) return 0;
    const uint64_t end = std::min(begin + tiles, job_.tile_count);
    const int64_t start_ns = cost ? monotonic_ns() : 0;
    job_.run(job_.context, worker, {begin, end});
    if (cost) cost->add(monotonic_ns() - start_ns - look_ns(), end - begin);
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
  const bool brief = progress.tile_ns != 0 && progress.tile_ns * static_cast<double>(job.tile_count) <= brief_ns_;
  if (brief || job.tile_count <= 1) progress = run_alone(job, worker);
  if (progress.done < job.tile_count) share(job, progress, worker);
}

// Stops where the rest is worth sharing.
SharedJobs::Progress SharedJobs::run_alone(const TileJob& job, Worker& worker) {
  const int64_t start_ns = monotonic_ns();
  uint64_t done = 0;
  int64_t spent_ns = 0;
  for (uint64_t stretch = 1; done < job.tile_count && static_cast<double>(spent_ns) <= brief_ns_;
       stretch = done * kGrowth) {
    const uint64_t end = std::min(done + stretch, job.tile_count);
    job.run(job.context, worker, {done, end});
    done = end;
    spent_ns = monotonic_ns() - start_ns;
  }
  if (done == 0) return {};
  if (job.tile_cost) job.tile_cost->add(spent_ns - look_ns(), done);
  return {done, static_cast<double>(spent_ns) / static_cast<double>(done)};
}

void SharedJobs::share(const TileJob& job, const Progress& progress, Worker& worker) {
  Job shared(job, progress.done, (worker_count_ + 1) * kTilesPerClaim);
  Slot* slot = publish(shared);
  const double expected_ns = progress.tile_ns * static_cast<double>(job.tile_count - progress.done);
  bool called = !slot;
  if (!called && (expected_ns == 0 || expected_ns > idle_.arrival_ns())) {
    call_others(shared, expected_ns);
    called = true;
  }
  const int64_t start_ns = monotonic_ns();
  // The second stretch counts: the first one finds code and data cold after a pause, and is no measure for a grid.
  MeasuredCost cold;
  MeasuredCost* learns = &cold;
  while (shared.run_some(worker, learns) != 0) {
    learns = learns == &cold ? job.tile_cost : nullptr;
    if (called || static_cast<double>(monotonic_ns() - start_ns) < idle_.arrival_ns()) continue;
    call_others(shared, 0);
    called = true;
  }
  if (learns && learns == job.tile_cost) learns->add(static_cast<int64_t>(cold.ns()));  // There was no second one.
  if (slot) retract(*slot);
}

// Calls work(job), which says whether to go on with the next one.
template <typename Work>
bool SharedJobs::visit_each(const Work& work) {
  bool goes_on = true;
  for (Slot& slot : slots_) {
    if (!goes_on) break;
    if (!slot.job.load(std::memory_order_relaxed)) continue;
    slot.visitors.fetch_add(1, std::memory_order_seq_cst);
    if (Job* job = slot.job.load(std::memory_order_seq_cst)) {
      job->wake(idle_, idle_.wakes_each());
      goes_on = work(*job);
    }
    slot.visitors.fetch_sub(1, std::memory_order_release);
  }
  return goes_on;
}

bool SharedJobs::visit(Worker& worker) {
  bool worked = false;
  visit_each([&](Job& job) {
    while (job.run_some(worker) != 0) worked = true;
    return true;
  });
  return worked;
}

// What takes how long may not be known, and the thread's own time may be up: it claims twice as much each time.
bool SharedJobs::visit_briefly(Worker& worker) {
  const int64_t end_ns = monotonic_ns() + kVisitNs;
  bool worked = false;
  visit_each([&](Job& job) {
    for (uint64_t tiles = 1; job.run_some(worker, nullptr, tiles) != 0; tiles *= 2) {
      worked = true;
      if (monotonic_ns() >= end_ns) return false;
    }
    return true;
  });
  return worked;
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

// `expected_ns` 0: not known.
void SharedJobs::call_others(Job& job, double expected_ns) {
  uint64_t wanted = std::min<uint64_t>(job.tiles_left(), worker_count_ + 1);
  // More would come too late to have a share that is worth their wake.
  if (expected_ns != 0) wanted = std::min(wanted, static_cast<uint64_t>(2 * expected_ns / idle_.arrival_ns()) + 2);
  if (wanted <= 1) return;  // The leader's.
  job.call(idle_.missing(wanted - 1));
  job.wake(idle_, idle_.wakes_each());
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
