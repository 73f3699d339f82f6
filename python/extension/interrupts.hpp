// Ctrl-C while a program runs. Python's handler of SIGINT only notes the signal, which the interpreter looks at when it runs again;
// calls of Python's main thread therefore watch a flag that a handler in front of Python's sets, and end as cancelled ones do.
//
// The handler stays in front of Python's from the first such call on. Only where Python would raise KeyboardInterrupt: a
// handler of the user's own, which takes the place of both, finds its call going on. A call asks the system who has the
// signal now, 0.1 us, because another handler may have come and gone since the last one, and ours with it. Only calls of a
// loop that does nothing else follow each other too closely for that, and look at the clock alone.
// Threads: with Python's lock. Calls of other threads than the main one watch nothing, as Python gives them no signals.
#pragma once

#include <atomic>

#include "python/extension/python_lock.hpp"
#include "vm/stack.hpp"

namespace baton::python {

// What a call that begins here watches, or null. Throws what an earlier signal's handler in Python raises.
const std::atomic<bool>* watch_interrupts();
// Behind a call that ended with `status`: throws KeyboardInterrupt where that ended it. What ended by itself has its results.
void raise_interrupt(const Status& status);
// Behind a function of Python's that returned to a program: an interrupt that it was told of and handled ends no call; one that it
// was not told of is thrown.
void forget_handled_interrupt();

// `wait(timeout_ns)` until it ends with another status than DEADLINE_EXCEEDED for its timeout, without the lock. Throws what a
// signal's handler in Python raises meanwhile; what is waited for goes on.
template <typename Wait>
Status wait_for_signals_too(const Wait& wait) {
  constexpr int64_t kLookNs = 100'000'000;
  for (;;) {
    const int64_t begin_ns = vm::monotonic_clock_ns();
    Status status = [&] {
      const Unlocked unlocked;
      return wait(kLookNs);
    }();
    const bool was_timeout = vm::monotonic_clock_ns() - begin_ns >= kLookNs;  // And no failure of what is waited for.
    if (!was_timeout || status.code() != StatusCode::kDeadlineExceeded) return status;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

}  // namespace baton::python
