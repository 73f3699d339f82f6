// Worker: what a thread that runs kernels has of its own: where it runs, memory for workgroups, and what it runs.
//
// Threads: belongs to one thread.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>

#include "base/allocator.hpp"
#include "hal/drivers/local/executable_library.h"

namespace baton::hal::drivers::local {

struct RunningKernel;  // kernel_crash.hpp

class Worker {
 public:
  Worker() { of_this_thread = this; }
  ~Worker() {
    of_this_thread = nullptr;
    system_allocator().free(local_memory_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The processor the thread is on. Looked up once per stretch of work; a call costs 4 ns.
  void refresh_processor_id() { processor_id_ = static_cast<uint32_t>(sched_getcpu()); }
  uint32_t processor_id() const { return processor_id_; }

  // At least `size_bytes`, 64-byte aligned; grows to the largest workgroup that was ever run here and stays.
  void* local_memory(size_t size_bytes) {
    if (size_bytes > local_memory_bytes_) [[unlikely]] {
      system_allocator().free(local_memory_);
      local_memory_ = system_allocator().allocate(size_bytes, 64);
      local_memory_bytes_ = size_bytes;
    }
    return local_memory_;
  }

  // All zero but from when a kernel has written there why it fails until its failure is told: so no launch needs to clear one.
  baton_failed_check failed_check = {};
  // Null outside of kernels, and behind a kernel that ran inside of another one by way of a host function.
  const RunningKernel* running = nullptr;
  // Null in threads that have run no kernel yet. this_worker() would make one, which a signal handler must not.
  static inline thread_local constinit Worker* of_this_thread = nullptr;

 private:
  uint32_t processor_id_ = 0;
  void* local_memory_ = nullptr;
  size_t local_memory_bytes_ = 0;
};

// The calling thread's.
inline Worker& this_worker() {
  thread_local Worker worker;
  return worker;
}

}  // namespace baton::hal::drivers::local
