// The step loop. Runs the machine from where it stands until its function returns, suspends or traps.
#pragma once

#include "vm/stack.hpp"

namespace baton::vm {

// Before: pc, window, frame and state of `machine` are set. After: so they are again, for a later run, for the results
// or for the backtrace (`machine.trap`).
RunOutcome run(Machine& machine);

// Code that the bottom frame returns to: ends the run.
extern const uint64_t kHaltCode;

}  // namespace baton::vm
