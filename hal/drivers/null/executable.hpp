// Executable of the null driver: entry points without code.
//
// It knows what the program expects. A program that tells nothing may use entry points by their number, and gets one
// for each name that it asks for.
// Threads: internally synchronized, but for names that are asked for while the same executable's work is printed.
#pragma once

#include <mutex>

#include "hal/executable.hpp"

namespace baton::hal::drivers::null {

class Executable final : public hal::Executable {
 public:
  Executable(const ExecutableRequest& request, const void* device) : hal::Executable(request, device) {
    entry_points_.assign(request.expected.begin(), request.expected.end());
    if (!entry_points_.empty()) return;
    for (uint32_t i = 0; i < kUnknownEntryPoints; ++i) {
      entry_points_.push_back({.name = text("entry_", i), .layout_known = false});
    }
    unnamed_ = 0;
  }

  Result<uint32_t> find(std::string_view entry_point) override {
    std::lock_guard lock(mutex_);
    for (uint32_t i = 0; i < entry_points_.size(); ++i) {
      if (entry_points_[i].name == entry_point) return i;
    }
    if (unnamed_ >= entry_points_.size()) return hal::Executable::find(entry_point);
    entry_points_[unnamed_].name = entry_point;
    return unnamed_++;
  }

 private:
  static constexpr uint32_t kUnknownEntryPoints = 64;

  std::mutex mutex_;
  uint32_t unnamed_ = ~uint32_t{0};  // Guarded by mutex_: the next one that a name may take.
};

}  // namespace baton::hal::drivers::null
