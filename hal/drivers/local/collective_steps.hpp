// A collective in memory that the ranks share: who writes what into which slot, step by step, and who reads it.
//
// The first step carries, beside the first data, what each rank says of its collective. All ranks look at all of it, so
// that all refuse what does not fit, and the channel goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hal/drivers/local/rank_segment.hpp"

namespace baton::hal::drivers::local {

// One rank's part, with the memory of this execution.
struct CollectiveWork {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Reduction reduction = Reduction::kNone;
  ElementType element_type = ElementType::kF32;
  uint32_t root = 0;
  uint32_t to = kNoRank;
  uint32_t from = kNoRank;
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  uint64_t source_bytes = 0;
  uint64_t target_bytes = 0;
};

Status run_steps(RankSegment& segment, const CollectiveWork& work, uint32_t rank, uint32_t rank_count);

}  // namespace baton::hal::drivers::local
