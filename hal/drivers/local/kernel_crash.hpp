// Who ran when the process died: after name_kernel_crashes(), SIGSEGV, SIGBUS, SIGILL and SIGFPE inside a kernel first say on
// standard error which kernel of which executable, which workgroup, and what the address has to do with its bindings. Then
// whoever handled the signal before does, or the process ends as it would have.
#pragma once

#include "hal/drivers/local/executable_library.h"

namespace baton::hal::drivers::local {

struct Launch;

// What a worker runs, as far as a signal handler may look at it.
struct RunningKernel {
  baton_workgroup_state workgroup;
  const Launch* launch;
  const baton_dispatch_state* state;
};

// Asked for by hosts that want it, once or often; the tools do.
// Threads: any.
void name_kernel_crashes();

}  // namespace baton::hal::drivers::local
