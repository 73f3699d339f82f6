// SharedJobs: tiles that several threads run at once.
//
// The essay. Forking must cost less than a small dispatch, so nothing is allocated or locked for it: the leader puts a
// job that lives on its stack into one of a few slots, and idle threads (workers, and threads that wait for the
// device) look through the slots and claim tiles from the job's counter. Before touching a job, a visitor enters its
// slot; the leader empties the slot when all tiles are claimed and leaves only after the last visitor has.
//
// Even so it costs a few hundred nanoseconds, and waking workers for it a few thousand. What tiles of this kind took
// before says whether to begin alone, to let in the threads that are awake, or to wake others; where nothing is known,
// all are called. A leader that began alone looks at the clock and calls the others as soon as it takes longer than
// they cost: a wrong guess loses that much and no more. Those that are woken wake others in turn, a few each
// (IdleWorkers::wakes_each()).
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <cstdint>

#include "hal/drivers/local/idle_workers.hpp"
#include "hal/drivers/local/recording.hpp"
#include "hal/drivers/local/worker.hpp"

namespace baton::hal::drivers::local {

// Tiles that any thread may run: run(context, worker, tiles).
struct TileJob {
  void (*run)(void* context, Worker& worker, TileRange tiles);
  void* context;
  uint64_t tile_count;
  MeasuredCost* tile_cost = nullptr;  // Of a tile like these; null: it is not kept.
};

class SharedJobs {
 public:
  SharedJobs(IdleWorkers& idle, uint32_t worker_count);

  // Runs all tiles, on this thread and on idle ones, and returns when they are done.
  void run(const TileJob& job, Worker& worker);

  bool any() const { return job_count_.load(std::memory_order_relaxed) != 0; }
  // Works on the jobs there are until all their tiles are claimed. True when it got any.
  bool visit(Worker& worker);
  // The same for a thread that waits for something: about as long as a wake takes, unless a tile takes longer.
  bool visit_briefly(Worker& worker);

 private:
  static constexpr size_t kSlotCount = 16;  // Jobs that can be shared at once; more run on their leader alone.
  static constexpr size_t kCacheLine = 64;
  class Job;
  struct alignas(kCacheLine) Slot {
    std::atomic<Job*> job{nullptr};
    std::atomic<uint32_t> visitors{0};
  };

  struct Progress {
    uint64_t done;   // Tiles.
    double tile_ns;  // What one takes; 0: not known.
  };

  Progress run_alone(const TileJob& job, Worker& worker);
  void share(const TileJob& job, const Progress& progress, Worker& worker);
  template <typename Work>
  bool visit_each(const Work& work);
  Slot* publish(Job& job);
  void retract(Slot& slot);
  void call_others(Job& job, double expected_ns);

  IdleWorkers& idle_;
  const uint32_t worker_count_;
  const double brief_ns_;  // A job that takes no longer is not shared.
  alignas(kCacheLine) std::atomic<uint32_t> job_count_{0};
  Slot slots_[kSlotCount];
};

}  // namespace baton::hal::drivers::local
