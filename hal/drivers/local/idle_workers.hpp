// IdleWorkers: which of a pool's workers look for work and which sleep; wakes as few of them as possible.
//
// The essay. A wake costs the thread that wakes 2-10 us, and the one that is woken 5-30 us more: a thousand small
// tiles. So no worker is woken while another one is looking anyway. A worker that finds work and leaves more behind
// wakes the next one (pass_on() in task_pool.cpp), so that no thread wakes many. The pool measures how long a wake
// takes, and an idle worker looks for work twice as long before it sleeps: whatever the gaps between two pieces of
// work, this loses less than three times what the best decision would have lost, and a pool without work burns nothing.
//
// No work is overlooked: a thread that adds work raises `announcements_` before it counts the workers that look and
// those that sleep, and a worker that falls asleep counts itself before it looks at the number a last time. All of it
// is sequentially consistent.
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "hal/drivers/local/measured_cost.hpp"

namespace baton::hal::drivers::local {

class IdleWorkers {
 public:
  // `spin_ns` negative: as long as pays.
  IdleWorkers(uint32_t worker_count, int64_t spin_ns);

  // For worker `index`.
  void set_searching(uint32_t index, bool searching) { places_[index].searching.store(searching); }
  uint32_t look() const { return announcements_.load(); }
  int64_t spin_ns() const;
  // Sleeps until woken, unless something was announced since look() returned `seen`.
  void sleep_unless_changed(uint32_t seen);

  // For a thread that has work.
  void announce() { announcements_.fetch_add(1); }
  // How many of those that sleep have to be woken so that `wanted` workers look for work.
  uint32_t missing(uint64_t wanted) const;
  void wake_one();
  void wake_all();
  bool all_sleep() const { return asleep_.load(std::memory_order_relaxed) == worker_count_; }

  // What a wake costs the thread that wakes. Both are bounded: what an overloaded machine shows is not the wake's cost.
  double wake_ns() const;
  // Until the woken thread can work, from when it was decided to wake it.
  double arrival_ns() const;
  // How many a thread should wake: as many as it can until the first of them is there to do its part.
  int wakes_each() const;

 private:
  static constexpr size_t kCacheLine = 64;
  struct alignas(kCacheLine) Place {
    std::atomic<bool> searching{false};
  };

  const uint32_t worker_count_;
  const int64_t spin_ns_;
  const std::unique_ptr<Place[]> places_;
  alignas(kCacheLine) std::atomic<uint32_t> announcements_{0};
  alignas(kCacheLine) std::atomic<uint32_t> asleep_{0};
  std::atomic<int64_t> woken_at_ns_{0};  // When a wake was last begun.
  // Assumed as seen on servers; after a few wakes it is as seen here.
  MeasuredCost wake_{4'000};
  MeasuredCost arrival_{10'000};
};

}  // namespace baton::hal::drivers::local
