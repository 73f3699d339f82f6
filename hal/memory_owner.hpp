// MemoryOwner: names the owner of the memory that this thread allocates while the object lives. Memory that an owner
// gave back may be given to the same owner again uncleared; for another owner, or without one, it is cleared.
//
// An owner is a number that is never given twice; hal_module makes one for each context.
// Threads: a local variable.
#pragma once

#include <atomic>
#include <cstdint>

namespace baton::hal {

class MemoryOwner {
 public:
  static constexpr uint64_t kNobody = 0;

  explicit MemoryOwner(uint64_t owner) : before_(current_) { current_ = owner; }
  MemoryOwner(const MemoryOwner&) = delete;
  MemoryOwner& operator=(const MemoryOwner&) = delete;
  ~MemoryOwner() { current_ = before_; }

  static uint64_t current() { return current_; }
  static uint64_t make() { return made_.fetch_add(1, std::memory_order_relaxed) + 1; }

 private:
  static inline thread_local uint64_t current_ = kNobody;
  static inline std::atomic<uint64_t> made_{kNobody};
  uint64_t before_;
};

}  // namespace baton::hal
