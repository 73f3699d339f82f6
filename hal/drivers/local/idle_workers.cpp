#include "hal/drivers/local/idle_workers.hpp"

#include <algorithm>

#include "hal/drivers/common/spin.hpp"

namespace baton::hal::drivers::local {

IdleWorkers::IdleWorkers(uint32_t worker_count, int64_t spin_ns)
    : worker_count_(worker_count), spin_ns_(spin_ns), places_(std::make_unique<Place[]>(worker_count)) {}

int64_t IdleWorkers::spin_ns() const {
  if (spin_ns_ >= 0) return spin_ns_;
  return std::clamp(static_cast<int64_t>(2 * arrival_ns()), int64_t{5'000}, int64_t{50'000});
}

void IdleWorkers::sleep_unless_changed(uint32_t seen) {
  const int64_t asleep_at_ns = monotonic_ns();
  asleep_.fetch_add(1);
  announcements_.wait(seen);
  asleep_.fetch_sub(1);
  const int64_t woken_at_ns = woken_at_ns_.load(std::memory_order_relaxed);
  if (woken_at_ns > asleep_at_ns) arrival_.add(monotonic_ns() - woken_at_ns);
}

uint32_t IdleWorkers::missing(uint64_t wanted) const {
  const uint32_t asleep = asleep_.load();
  if (asleep == 0) return 0;
  uint64_t searching = 0;
  for (uint32_t i = 0; i < worker_count_ && searching < wanted; ++i) searching += places_[i].searching.load() ? 1 : 0;
  return static_cast<uint32_t>(std::min<uint64_t>(wanted - searching, asleep));
}

double IdleWorkers::wake_ns() const { return std::min(wake_.ns(), 20'000.0); }
double IdleWorkers::arrival_ns() const { return std::min(arrival_.ns(), 50'000.0); }

int IdleWorkers::wakes_each() const { return std::clamp(static_cast<int>(arrival_ns() / wake_ns()), 1, 8); }

void IdleWorkers::wake_one() {
  const int64_t begin_ns = monotonic_ns();
  woken_at_ns_.store(begin_ns, std::memory_order_relaxed);
  announcements_.notify_one();
  wake_.add(monotonic_ns() - begin_ns);
}

void IdleWorkers::wake_all() { announcements_.notify_all(); }

}  // namespace baton::hal::drivers::local
