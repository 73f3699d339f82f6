// WorkLimits: what ends the work of a call before it is done: a point of the clock, and somebody who says so. Whoever
// runs a call sets them for its thread; devices of the host look at them between workgroups, so that hal needs to know
// nothing of calls.
//
// With them stands whom to ask where in its program the call is (call_place.hpp): one thread has one of both.
//
// Work that a device goes on with on other threads keeps the deadline, and hears stop_kept().
// Threads: belongs to one thread at a time; work_was_stopped() may be told from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/call_place.hpp"
#include "base/ref.hpp"
#include "base/status.hpp"

namespace baton {

class WorkLimits {
 public:
  int64_t deadline_ns = 0;                       // of the monotonic clock; 0 for none
  const std::atomic<bool>* cancelled = nullptr;  // outlives these limits; null: nobody can cancel

  CallPlace::Caller caller = {};  // no part of keep()

  bool is_cancelled() const { return cancelled && cancelled->load(std::memory_order_relaxed); }
  // kCancelled, kDeadlineExceeded, or kOk: the work may go on. Reads the clock where there is a deadline.
  StatusCode look() const;

  // The same limits for work that may outlive the call.
  WorkLimits keep() {
    if (!kept_) kept_ = make_ref<Flag>();
    WorkLimits kept;
    kept.deadline_ns = deadline_ns;
    kept.cancelled = &kept_->raised;
    kept.kept_ = kept_;
    return kept;
  }
  // Ends what was kept so far, and nothing that is kept later.
  void stop_kept() {
    if (const Ref<Flag> kept = std::exchange(kept_, nullptr)) kept->raised.store(true, std::memory_order_relaxed);
  }

  // A device says that it left out some of this thread's work.
  void note_stopped() { stopped_.store(true, std::memory_order_relaxed); }
  bool take_stopped() { return stopped_.load(std::memory_order_relaxed) && stopped_.exchange(false); }

  WorkLimits() = default;
  WorkLimits(WorkLimits&& other) noexcept
      : deadline_ns(other.deadline_ns), cancelled(other.cancelled), kept_(std::move(other.kept_)) {}

  // Those of the thread, for as long as the scope lives; null for none.
  static WorkLimits* current() { return current_; }
  class Scope {
   public:
    explicit Scope(WorkLimits* limits) : before_(std::exchange(current_, limits)) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { current_ = before_; }

   private:
    WorkLimits* before_;
  };

 private:
  struct Flag : RefCounted<Flag> {
    std::atomic<bool> raised{false};
  };
  static inline constinit thread_local WorkLimits* current_ = nullptr;

  Ref<Flag> kept_;
  std::atomic<bool> stopped_{false};
};

// Nanoseconds of the clock that deadlines are points of.
int64_t monotonic_clock_ns();

}  // namespace baton
