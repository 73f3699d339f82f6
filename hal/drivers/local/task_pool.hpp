// TaskPool: the workers of local-task. Tasks (operations that became ready) go to one worker each; a worker that has
// work for many splits it into tiles and calls the others in.
//
// The essay. Forking must cost less than a small dispatch, so nothing is allocated or locked for it: the leader puts a
// job that lives on its stack into one of a few slots, and whoever is idle (a worker, or a thread that waits for the
// device) looks through the slots and claims tiles from the job's counter. Before touching a job, a visitor enters its
// slot; the leader empties the slot when all tiles are claimed and leaves only after the last visitor has. Idle workers
// spin some 20 us before they sleep, longer than the gap between two operations of a busy program.
//
// Why not oneTBB: forking and joining 64 empty tiles costs 98 ns of the leader's time here and 1680 ns in its
// parallel_for, 2 tiles 32 and 199 ns (bench/hal, CPU time on a two-core EPYC VM that was busy with other things).
//
// Threads: internally synchronized.
#pragma once

#include <thread>
#include <vector>

#include "hal/drivers/local/recording.hpp"
#include "hal/host_queue.hpp"
#include "hal/host_semaphore.hpp"

namespace baton::hal::drivers::local {

// Tiles that any thread may run: run(context, worker, tiles).
struct TileJob {
  void (*run)(void* context, Worker& worker, TileRange tiles);
  void* context;
  uint64_t tile_count;
};

class TaskPool {
 public:
  explicit TaskPool(uint32_t worker_count);
  // No task is queued or running any more, but for one that calls this.
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // Some worker runs `task` soon.
  void submit(HostQueue::Task& task);
  // Runs all tiles, on this thread and on whoever is idle, and returns when they are done.
  void run_tiles(const TileJob& job);
  // Lets threads that wait claim tiles. They never take tasks, which may block.
  Ref<WaitHelper> wait_helper() const;

 private:
  class State;

  Ref<State> state_;  // Shared with the workers and with semaphores: they may outlive the pool.
  std::vector<std::thread> workers_;
};

}  // namespace baton::hal::drivers::local
