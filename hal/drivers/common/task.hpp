// Task: something that is ready to run, once, on whichever thread takes it.
//
// Threads: the queue that holds a task is its only user. A task deletes itself when it has run.
#pragma once

#include "hal/drivers/common/wait_helper.hpp"

namespace baton::hal {

class Task {
 public:
  virtual ~Task() = default;
  virtual void run() = 0;
  // Whether a thread that waits for `awaited` may run it (wait_helper.hpp).
  virtual bool may_run_for(const Awaited&) const { return false; }

  Task* next = nullptr;  // For the queue that holds it.
};

// Runs `task` on this thread. When this thread is running another one this way, which made `task` ready by a signal,
// `task` runs after it: a chain of tasks that release each other takes one stack frame, however long it is.
void run_in_turn(Task& task);

}  // namespace baton::hal
