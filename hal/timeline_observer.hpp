// TimelineObserver: makes spans on a timeline of what a device is asked to do, and a label for each command that it
// records: name, module, where in the program it was recorded, how many bytes it moves. Drivers that know when a command
// ran report it with that label (work_label.hpp, drivers/cuda/work_listener.hpp).
// Threads: internally synchronized.
#pragma once

#include <memory>

#include "base/timeline.hpp"
#include "hal/observed_device.hpp"

namespace baton::hal {

// `device` with its spans on `timeline`, which outlives it.
Ref<Device> observe(Ref<Device> device, Timeline& timeline);

}  // namespace baton::hal
