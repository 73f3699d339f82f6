// Fence: a set of semaphore points that are waited for or signalled together.
//
// What an async call takes (wait fence, signal fence). A semaphore stands in it once, with its largest value. One
// point, which is what most fences have, lies in the fence itself.
// Threads: immutable after the last insert.
#pragma once

#include <span>
#include <vector>

#include "hal/semaphore.hpp"

namespace baton::hal {

class Fence final : public RefCounted<Fence> {
 public:
  Fence() = default;
  explicit Fence(std::span<const SemaphorePoint> points);
  ~Fence();
  static Ref<Fence> at(Semaphore& semaphore, uint64_t value) { return at(Ref<Semaphore>(&semaphore), value); }
  static Ref<Fence> at(Ref<Semaphore>&& semaphore, uint64_t value);
  // All points of all fences; null fences count as already passed.
  static Ref<Fence> join(std::span<const Fence* const> fences);

  void insert(const SemaphorePoint& point);
  std::span<const SemaphorePoint> points() const {
    return many_.empty() ? std::span(&one_, one_.semaphore ? 1 : 0) : std::span<const SemaphorePoint>(many_);
  }

  // DEADLINE_EXCEEDED when the time is up before all points are reached; the failure when one failed.
  Status wait(int64_t timeout_ns = kWaitForever) const;
  // Ok when passed, DEADLINE_EXCEEDED while not, else the failure.
  Status query() const { return wait(0); }
  Status signal() const;
  void fail(const Status& status) const;

 private:
  SemaphorePoint one_;                // Its semaphore is null when there is none.
  std::vector<SemaphorePoint> many_;  // All of them, when they are more than one.
};

// Waits for all points with one deadline.
Status wait_all(std::span<const SemaphorePoint> points, int64_t timeout_ns = kWaitForever);

}  // namespace baton::hal
