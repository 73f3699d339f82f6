// Ctrl-C while a program runs. Python's handler of SIGINT only notes the signal, which the interpreter looks at when it runs again;
// a call of Python's main thread therefore watches a flag that a handler in front of Python's sets, and ends as a cancelled one does.
//
// Only where Python would raise KeyboardInterrupt: a handler of the user's own finds its call going on.
#pragma once

#include <atomic>
#include <csignal>

#include "python/extension/python_lock.hpp"
#include "vm/invocation.hpp"

namespace baton::python {

// While it lives, with the lock on both ends, Ctrl-C ends the call. One whose last call was brief costs two looks at the clock.
class Interruptible {
 public:
  Interruptible(vm::Invocation& invocation, std::atomic<bool>& was_brief);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  // Behind the call, which ended with `status`: throws KeyboardInterrupt where that ended it.
  void check(const Status& status);

 private:
  void stop();

  vm::Invocation* invocation_;
  std::atomic<bool>* was_brief_;
  int64_t begin_ns_;
  bool watches_ = false;
  bool is_inner_ = false;  // Called by a function of Python's inside of a call that watches.
  struct sigaction before_ {};
};

}  // namespace baton::python
