// WorkWatch: looks, while the tiles of a dispatch or a transfer are run, whether the call that wants them has to end.
//
// The flag is looked at before every tile. The clock costs more than a small tile does: as long as tiles are short it is
// read after up to 64 of them.
// Threads: a local variable.
#pragma once

#include "base/work_limits.hpp"

namespace baton::hal::drivers::local {

class WorkWatch {
 public:
  // Null: nothing limits the work.
  explicit WorkWatch(WorkLimits* limits) : limits_(limits) {}

  // Before each tile: whether it shall not be begun.
  bool must_stop() { return limits_ && look(); }

  // "a, because the deadline of the call has passed." Once must_stop() was true.
  template <typename... Parts>
  Status stopped(const Parts&... parts) const {
    limits_->note_stopped();
    return failure(
        reason_, parts...,
        reason_ == StatusCode::kCancelled ? ": the call was cancelled." : ": the deadline of the call has passed.");
  }

 private:
  static constexpr uint32_t kStretchMax = 64;
  static constexpr int64_t kShortNs = 50'000;

  bool look() {
    if (limits_->is_cancelled()) [[unlikely]]
      return because(StatusCode::kCancelled);
    if (limits_->deadline_ns == 0 || --left_ != 0) [[likely]]
      return false;
    const int64_t now_ns = monotonic_clock_ns();
    if (now_ns >= limits_->deadline_ns) return because(StatusCode::kDeadlineExceeded);
    const bool brief = now_ns - looked_ns_ < kShortNs;
    stretch_ = brief && stretch_ < kStretchMax ? 2 * stretch_ : brief ? stretch_ : 1;
    looked_ns_ = now_ns;
    left_ = stretch_;
    return false;
  }
  bool because(StatusCode reason) {
    reason_ = reason;
    return true;
  }

  WorkLimits* const limits_;
  StatusCode reason_ = StatusCode::kOk;
  uint32_t left_ = 1;
  uint32_t stretch_ = 1;
  int64_t looked_ns_ = 0;
};

}  // namespace baton::hal::drivers::local
