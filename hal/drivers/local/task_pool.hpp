// TaskPool: the workers of local-task. Tasks (operations that became ready) go to one worker each; a worker that has
// work for many splits it into tiles and calls the others in (shared_jobs.hpp). Who is woken for what, and how long
// idle workers look for work before they sleep: idle_workers.hpp.
//
// When all workers are in code of the host, which may wait for other tasks on other threads, spare threads take what waits, one
// at a time and after a while (common/host_turn.hpp).
//
// A task that a thread waits for is run by the first that is free: a worker, or the thread that waits
// (wait_helper.hpp).
//
// Why not oneTBB: forking and joining 64 empty tiles costs 98 ns of the leader's time here and 1680 ns in its
// parallel_for, 2 tiles 32 and 199 ns (bench/hal, CPU time on a two-core EPYC VM that was busy with other things).
//
// Threads: internally synchronized.
#pragma once

#include <thread>
#include <vector>

#include "hal/drivers/common/task.hpp"
#include "hal/drivers/local/own_process.hpp"
#include "hal/drivers/local/shared_jobs.hpp"

namespace baton::hal::drivers::local {

struct TaskPoolOptions {
  uint32_t worker_count = 1;
  int64_t spin_ns = -1;    // How long an idle worker looks for work before it sleeps; negative: as long as pays.
  int64_t inline_ns = -1;  // The longest work that is not worth a task; negative: as measured.
};

class TaskPool {
 public:
  explicit TaskPool(const TaskPoolOptions& options);
  // No task is queued or running any more, but for one that calls this.
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // False in a process that was forked off: the threads stayed behind.
  bool has_workers() const { return process_.is_here(); }
  // Some worker runs `task` soon.
  void submit(Task& task);
  // The most work, in nanoseconds, that takes the submitting thread no longer than handing it over would.
  double inline_ns() const;
  // Runs all tiles, on this thread and on idle ones, and returns when they are done.
  void run_tiles(const TileJob& job);
  // Lets threads that wait claim tiles, and tasks that are nothing but tiles.
  Ref<WaitHelper> wait_helper() const;

 private:
  class State;

 public:
  // While one lives on a thread, tasks that the thread submits wake no worker that is not needed: the thread is about
  // to look for work itself.
  // Threads: a local variable.
  class LastAct {
   public:
    explicit LastAct(TaskPool& pool);
    ~LastAct();
    LastAct(const LastAct&) = delete;
    LastAct& operator=(const LastAct&) = delete;

   private:
    State* state_;  // Null: inside of another one.
  };

 private:
  Ref<State> state_;  // Shared with the workers and with semaphores: they may outlive the pool.
  std::vector<std::thread> workers_;
  const OwnProcess process_;
};

}  // namespace baton::hal::drivers::local
