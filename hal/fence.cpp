#include "hal/fence.hpp"

#include <algorithm>
#include <chrono>

namespace baton::hal {

Fence::Fence(std::span<const SemaphorePoint> points) {
  for (const SemaphorePoint& point : points) insert(point);
}

Ref<Fence> Fence::at(Ref<Semaphore>&& semaphore, uint64_t value) {
  auto fence = make_ref<Fence>();
  fence->one_ = {*semaphore.detach(), value};
  return fence;
}

Ref<Fence> Fence::join(std::span<const Fence* const> fences) {
  auto joined = make_ref<Fence>();
  for (const Fence* fence : fences) {
    if (!fence) continue;
    for (const SemaphorePoint& point : fence->points()) joined->insert(point);
  }
  return joined;
}

Fence::~Fence() {
  for (const SemaphorePoint& point : points()) point.semaphore->release();
}

void Fence::insert(const SemaphorePoint& point) {
  for (const SemaphorePoint& known : points()) {
    if (known.semaphore != point.semaphore) continue;
    const_cast<SemaphorePoint&>(known).value = std::max(known.value, point.value);
    return;
  }
  point.semaphore->retain();
  if (!one_.semaphore) {
    one_ = point;
    return;
  }
  if (many_.empty()) many_.push_back(one_);
  many_.push_back(point);
}

Status Fence::wait(int64_t timeout_ns) const { return wait_all(points(), timeout_ns); }

// All are signalled; the first refusal is returned.
Status Fence::signal() const {
  Status result;
  for (const SemaphorePoint& point : points()) {
    Status status = point.semaphore->signal(point.value);
    if (result.ok()) result = std::move(status);
  }
  return result;
}

void Fence::fail(const Status& status) const {
  for (const SemaphorePoint& point : points()) point.semaphore->fail(status);
}

Status wait_all(std::span<const SemaphorePoint> points, int64_t timeout_ns) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (const SemaphorePoint& point : points) {
    int64_t left_ns = timeout_ns;
    if (timeout_ns > 0) {
      const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
      left_ns = std::max<int64_t>(timeout_ns - spent, 0);
    }
    BATON_TRY(point.semaphore->wait(point.value, left_ns));
  }
  return {};
}

}  // namespace baton::hal
