// Channel: a group of ranks that work together in collective commands; one rank is this process's device.
//
// All ranks of a channel record the same collectives in the same order, and execute them in that order; Baton
// does not order executions that overlap on one channel. When a rank disagrees, dies or comes too late, the others stop
// waiting and get a status.
// Threads: internally synchronized.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ref.hpp"
#include "base/result.hpp"

namespace baton::hal {

class Device;
class RankStore;

// How long a rank waits for the others, in making a channel and in each collective.
inline constexpr int64_t kChannelTimeoutNs = int64_t{300} * 1'000'000'000;

struct ChannelRequest {
  std::string_view name = "unnamed";  // The ranks that say the same name to the same store meet.
  uint32_t rank = 0;
  uint32_t rank_count = 1;
  RankStore* store = nullptr;  // Where several ranks meet.
  int64_t timeout_ns = kChannelTimeoutNs;
  // Where ranks compare each collective when they record it, on devices whose collectives don't do so by themselves. It is
  // how programs are looked into: ranks meet in the store each time.
  std::shared_ptr<RankStore> check_store = nullptr;
};

Status validate(const ChannelRequest& request);
// What a driver says that needs one.
Status no_store(const ChannelRequest& request);

class Channel : public RefCounted<Channel> {
 public:
  Channel(std::string_view name, uint32_t rank, uint32_t rank_count);
  virtual ~Channel();

  // The device whose commands may use it.
  const Device* device() const { return device_.get(); }

  const std::string& name() const { return name_; }
  uint32_t rank() const { return rank_; }
  uint32_t rank_count() const { return rank_count_; }

  // The ranks that say the same color make a channel, in the order of their keys, then of their ranks here. All ranks
  // of this channel call it; one with a negative color gets none (null).
  Result<Ref<Channel>> split(int32_t color, int32_t key);

 private:
  friend class Device;

  // `name` is the new channel's. The default knows of no peers: all of them said the same.
  virtual Result<Ref<Channel>> do_split(std::string_view name, int32_t color, int32_t key);

  Ref<Device> device_;
  std::string name_;
  uint32_t rank_;
  uint32_t rank_count_;
};

}  // namespace baton::hal
