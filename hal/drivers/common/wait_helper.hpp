// WaitHelper: what a thread does for a device while it waits for it.
//
// The contract. A thread in Semaphore::wait, Fence::wait or Queue::wait_idle may run, instead of sleeping:
// - kernels and transfers of the semaphore's device, a stretch at a time;
// - a whole operation, when it signals what the thread waits for, is nothing but kernels and transfers, and is known to
//   be done before the time is up. Callbacks for what the operation signals are then called from here.
// It never runs code of the host (host calls, foreign calls, file reads): that may block, on this very thread even. The
// exception is a worker of the device, which waits inside of a task, a host call that runs a program for example: there may be
// no other worker for what it waits for. It runs any operation of kernels and transfers, however long, and code of the host
// that signals what it waits for.
// A failure that another thread signals meanwhile is noticed when the work in hand is done.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/ref.hpp"
#include "hal/drivers/common/spin.hpp"
#include "hal/semaphore.hpp"

namespace baton::hal {

// What a thread waits for.
struct Awaited {
  const Semaphore* semaphore = nullptr;  // Null: everything there is to do.
  uint64_t value = 0;
  int64_t left_ns = kWaitForever;  // Until the time is up.
  uint64_t tasks_seen = 0;         // The helper's own: which tasks it has looked at for this wait.
  bool by_worker = false;          // The helper's own: a worker of the device waits.
};

// Threads: internally synchronized.
class WaitHelper : public RefCounted<WaitHelper> {
 public:
  virtual ~WaitHelper() = default;
  // Does a little of what is waiting to be done; false when there is nothing.
  virtual bool help(Awaited& awaited) = 0;
};

// Looks for a while whether `done()`, and lends `helper` (or null) a hand meanwhile: a wake by the kernel costs 5-50
// us, an answer by a warm worker 1 us. The while counts from the last thing done. False: not done, and time to sleep.
template <typename Done>
bool done_while_helping(const Done& done, WaitHelper* helper, Awaited awaited) {
  if (done()) return true;
  if (awaited.left_ns == 0) return false;
  using Clock = std::chrono::steady_clock;
  const int64_t timeout_ns = awaited.left_ns;
  const auto start = Clock::now();
  Spin spin;
  do {
    if (!helper || !helper->help(awaited)) continue;
    if (done()) return true;
    spin = Spin();
    if (timeout_ns < 0) continue;
    awaited.left_ns = timeout_ns - std::chrono::nanoseconds(Clock::now() - start).count();
    if (awaited.left_ns <= 0) return done();
  } while (spin.again() && !done());
  return done();
}

}  // namespace baton::hal
