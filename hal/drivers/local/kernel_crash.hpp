// Who ran when the process died: after name_kernel_crashes(), SIGSEGV, SIGBUS, SIGILL and SIGFPE inside a kernel first say on
// standard error which kernel of which executable, the module and the line of the program that recorded its launch, which
// workgroup, and what the address has to do with its bindings. Then whoever handled the signal before does, or the process ends as it would have.
#pragma once

#include <atomic>

#include "hal/drivers/local/executable_library.h"

namespace baton::hal::drivers::local {

struct Launch;

// What a worker runs, as far as a signal handler may look at it.
struct RunningKernel {
  baton_workgroup_state workgroup;
  const Launch* launch;
  const baton_dispatch_state* state;
};

extern std::atomic<bool> kernel_crashes_named;

// Asked for by hosts that want it, once or often; the tools do.
// Threads: any.
void name_kernel_crashes();
// Whether somebody asked: then launches note where they are recorded.
inline bool are_kernel_crashes_named() { return kernel_crashes_named.load(std::memory_order_relaxed); }

}  // namespace baton::hal::drivers::local
