// Channel: ranks on one machine, through memory that they share (rank_segment.hpp).
//
// Ranks are processes, or threads of one with a device each; what several of a device's ranks wait for at once would
// need a worker each.
// Threads: internally synchronized; collectives of one channel run one after the other.
#pragma once

#include <mutex>

#include "hal/channel.hpp"
#include "hal/drivers/local/collective_steps.hpp"

namespace baton::hal::drivers::local {

class Channel final : public hal::Channel {
 public:
  static Result<Ref<hal::Channel>> make(const ChannelRequest& request);

  Channel(std::string_view name, uint32_t rank, uint32_t rank_count, RankSegment segment, int64_t timeout_ns)
      : hal::Channel(name, rank, rank_count), segment_(std::move(segment)), timeout_ns_(timeout_ns) {}

  // Returns when this rank's part is done.
  Status run(const CollectiveWork& work);

 private:
  Result<Ref<hal::Channel>> do_split(std::string_view name, int32_t color, int32_t key) override;
  Status gather(const void* mine, size_t size, void* all);

  std::mutex mutex_;
  RankSegment segment_;  // Guarded by mutex_.
  const int64_t timeout_ns_;
};

}  // namespace baton::hal::drivers::local
