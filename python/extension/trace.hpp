// The trace that is on: baton.trace(path) of the package. Devices that are opened meanwhile tell it what they run, and so do
// calls. Work may outlive what Python holds, so a timeline lives as long as the process.
// Threads: with Python's lock.
#pragma once

#include "base/timeline.hpp"
#include "python/extension/python_lock.hpp"

namespace baton::python {

// Null: nobody traces.
Timeline* active_timeline();

void bind_traces(nb::module_& module);

}  // namespace baton::python
