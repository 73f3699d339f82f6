// Device: the host as a device. local-sync and local-task differ in their queue and in nothing else.
#pragma once

#include <memory>

#include "hal/device.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/drivers/local/task_pool.hpp"

namespace baton::hal::drivers::local {

inline constexpr uint32_t kWorkersMax = 256;

// One less than there are processors: a thread that waits for the device lends a hand (task_pool.hpp).
uint32_t default_worker_count();

// No workers: local-sync.
Result<Ref<hal::Device>> make_device(std::shared_ptr<const Options> options, const TaskPoolOptions& pool,
                                     bool native_code = true);

}  // namespace baton::hal::drivers::local
