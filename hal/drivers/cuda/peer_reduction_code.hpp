// The kernel of small all-reduces through the memory of peers (peer_reduction.hpp), as PTX: a text for each element type,
// reduction and number of ranks.
//
// A thread has 8 bytes of the data, a line. It writes its rank's line into the region of every rank, its own too, and
// between the words the number of the reduction: who finds that number twice in a line has the data, without a fence.
// Then it waits for the lines of all ranks in its own region, combines them in the order of the ranks, so that all
// ranks get the same bits, and writes the result.
//
// A region has a head of two words, the number of reductions that have ended and the workgroups of the current one that
// have, and behind it two halves that reductions use in turns. A rank writes into a half again when it has the
// next reduction's data of every rank: they all have read that half by then.
#pragma once

#include <string>

#include "hal/drivers/cuda/nccl.hpp"

namespace baton::hal::drivers::cuda {

struct PeerReductionShape {
  static constexpr uint32_t kRanksMax = 8;
  static constexpr uint32_t kThreads = 256;
  static constexpr uint64_t kHeadBytes = 256;
  static constexpr uint64_t kDataBytesMax = uint64_t{256} << 10;
  static constexpr uint64_t kLineDataBytes = 8;
  static constexpr uint64_t kLineBytes = 16;
  static constexpr uint64_t kRankBytes = kDataBytesMax / kLineDataBytes * kLineBytes;

  static constexpr uint64_t region_bytes(uint32_t ranks) { return kHeadBytes + 2 * ranks * kRankBytes; }
};

// As the kernel takes them. Its name is kPeerReductionName.
struct PeerReductionParameters {
  uint64_t source;
  uint64_t target;
  uint32_t count;  // Elements.
  uint32_t rank;
  uint64_t ended;                                   // A word: not zero when nobody waits any more.
  uint64_t regions[PeerReductionShape::kRanksMax];  // Of all ranks; the kernel takes as many as there are.
};
inline constexpr char kPeerReductionName[] = "baton_peer_reduction";

// Empty where there is none: NCCL does what is left. For sm_80 and newer.
std::string peer_reduction_code(const NcclType& as, uint32_t ranks);

}  // namespace baton::hal::drivers::cuda
