// Channel: a group of ranks that work together in collective commands; one rank is this process's device.
//
// Threads: immutable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ref.hpp"

namespace baton::hal {

class Channel : public RefCounted<Channel> {
 public:
  Channel(std::string_view name, uint32_t rank, uint32_t rank_count)
      : name_(name), rank_(rank), rank_count_(rank_count) {}
  virtual ~Channel() = default;

  const std::string& name() const { return name_; }
  uint32_t rank() const { return rank_; }
  uint32_t rank_count() const { return rank_count_; }

 private:
  std::string name_;
  uint32_t rank_;
  uint32_t rank_count_;
};

}  // namespace baton::hal
