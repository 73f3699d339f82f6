// Memory for the tensors of something, and a stream: to measure how long it takes there.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "modules/libraries/cuda_calls.hpp"

namespace baton::libraries {

// Addresses.
struct Places {
  uint64_t x = 0, w = 0, y = 0, workspace = 0;
};

// The context is current while it lives.
class Trial {
 public:
  // Nothing where there is no memory, or no driver.
  static std::optional<Trial> make(uint64_t x_bytes, uint64_t w_bytes, uint64_t y_bytes) {
    constexpr unsigned kNonBlocking = 1;
    Trial made;
    made.driver_ = DriverCalls::find();
    if (!made.driver_ || made.driver_->create_stream(&made.stream_, kNonBlocking) != 0) return std::nullopt;
    const bool has_room =
        made.add(made.places_.x, x_bytes) && made.add(made.places_.w, w_bytes) && made.add(made.places_.y, y_bytes);
    return has_room ? std::optional<Trial>(std::move(made)) : std::nullopt;
  }
  Trial(Trial&& other) noexcept
      : driver_(other.driver_),
        stream_(std::exchange(other.stream_, nullptr)),
        places_(std::exchange(other.places_, {})) {}
  Trial& operator=(Trial&&) = delete;
  ~Trial() {
    for (const uint64_t address : {places_.x, places_.w, places_.y}) {
      if (address) driver_->free(address);
    }
    if (stream_) driver_->destroy_stream(stream_);
  }

  // The least of a few runs; the longest time there is where it fails. `run` enqueues it, for a stream and places.
  template <typename Run>
  std::chrono::nanoseconds measure(uint64_t workspace_bytes, Run&& run) {
    constexpr int kRuns = 4, kCalls = 4;
    auto least = std::chrono::nanoseconds::max();
    if (!add(places_.workspace, workspace_bytes > 0 ? workspace_bytes : 1)) return least;
    for (int i = 0; i < kRuns; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      bool good = true;
      for (int call = 0; call < kCalls; ++call) good = good && run(stream_, places_).ok();
      if (driver_->wait_for_stream(stream_) != 0 || !good) break;
      const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
      if (took < least) least = took;
    }
    driver_->free(std::exchange(places_.workspace, 0));
    return least;
  }

 private:
  Trial() = default;
  bool add(uint64_t& address, uint64_t bytes) { return driver_->allocate(&address, bytes) == 0; }

  const DriverCalls* driver_ = nullptr;
  void* stream_ = nullptr;
  Places places_ = {};
};

}  // namespace baton::libraries
