// Spin: how long a thread looks at a variable before it asks the kernel to sleep.
#pragma once

#include <sched.h>

#include <cstdint>
#include <ctime>

namespace baton::hal {

inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

inline int64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// `while (spin.again()) if (ready()) return;` — some 20 us, longer than the gap between two dispatches of a busy queue.
// The clock is read every 64th time. When there are more threads than processors, a thread that spins may keep the one
// that it waits for from running; so after the first microseconds it offers its processor. That costs 0.3 us when no
// thread wants it, and a round trip on a crowded machine fell from 35 us to 3 us.
// Threads: a local variable.
class Spin {
 public:
  explicit Spin(int64_t budget_ns = 20'000) : budget_ns_(budget_ns) {}

  bool again() {
    cpu_relax();
    if (++rounds_ % 64 != 0) return true;
    const int64_t now = monotonic_ns();
    if (start_ns_ == 0) start_ns_ = now;
    if (now - start_ns_ > kPoliteAfterNs) sched_yield();
    return now - start_ns_ < budget_ns_;
  }

 private:
  static constexpr int64_t kPoliteAfterNs = 2'000;

  int64_t budget_ns_;
  int64_t start_ns_ = 0;
  uint32_t rounds_ = 0;
};

}  // namespace baton::hal
