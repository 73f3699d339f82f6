// Channels behind the door: ranks that work together, and what they do (CommandBuffer::collective).
// Threads: as the call.
#pragma once

#include <cstddef>

#include "modules/sdk/host.hpp"
#include "modules/sdk/recording.h"

namespace baton::sdk {

// Ranks that work together: a program makes it and hands it to a command.
class Channel final : public baton_object {
 public:
  static constexpr char kTypeName[] = "hal.channel";
  static const baton_object_type* object_type() {
    const baton_recording_table* table = recording_table();
    return table && table->struct_size > offsetof(baton_recording_table, channel_type) ? table->channel_type : nullptr;
  }
  Channel() = delete;

  uint32_t rank() const { return recording_table()->channel_rank(handle()); }
  uint32_t count() const { return recording_table()->channel_count(handle()); }
  baton_channel* handle() const { return reinterpret_cast<baton_channel*>(const_cast<Channel*>(this)); }
};

enum class Collective : uint32_t {
  kAllReduce = BATON_COLLECTIVE_ALL_REDUCE,
  kAllGather = BATON_COLLECTIVE_ALL_GATHER,
  kReduceScatter = BATON_COLLECTIVE_REDUCE_SCATTER,
  kBroadcast = BATON_COLLECTIVE_BROADCAST,
  kReduce = BATON_COLLECTIVE_REDUCE,
  kAllToAll = BATON_COLLECTIVE_ALL_TO_ALL,
  kSend = BATON_COLLECTIVE_SEND,
  kReceive = BATON_COLLECTIVE_RECEIVE,
  kPermute = BATON_COLLECTIVE_PERMUTE,
};
enum class Reduction : uint32_t {
  kNone = BATON_REDUCTION_NONE,
  kSum = BATON_REDUCTION_SUM,
  kProduct = BATON_REDUCTION_PRODUCT,
  kMinimum = BATON_REDUCTION_MINIMUM,
  kMaximum = BATON_REDUCTION_MAXIMUM,
  kAverage = BATON_REDUCTION_AVERAGE,
};
// The other ranks of a collective, where it has such.
struct Peers {
  uint32_t root = 0;
  uint32_t to = BATON_NO_RANK;
  uint32_t from = BATON_NO_RANK;
};

}  // namespace baton::sdk
