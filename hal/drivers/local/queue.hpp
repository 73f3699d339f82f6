// The queues of the local devices: local-sync runs records one after the other on the calling thread, local-task runs
// phase after phase, the tiles of a phase on all workers.
#pragma once

#include <memory>

#include "hal/drivers/local/task_pool.hpp"
#include "hal/queue.hpp"

namespace baton::hal::drivers::local {

std::unique_ptr<Queue> make_sync_queue(Device& device);
std::unique_ptr<Queue> make_task_queue(Device& device, TaskPool& pool);

}  // namespace baton::hal::drivers::local
