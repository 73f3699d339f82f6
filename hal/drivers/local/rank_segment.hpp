// RankSegment: memory that the ranks of a channel share on one machine, and how they wait for each other in it.
//
// Rank 0 makes it under a name of chance and removes the name when all have come. Each rank holds a lock on its byte
// (hal/file_lock.hpp), so that the others see it die. What is said in the segment is believed: whoever can write there
// runs as the same user.
//
//   head | a block for each rank | a letter box for each pair | two slots of data for each rank
//
// A step: each rank writes what it says and its data into its half of this step, arrives, waits for the others, reads.
// The other half belongs to the next step: nobody writes this one again before all have arrived there.
// Threads: externally synchronized.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "hal/commands/collective.hpp"

namespace baton::hal::drivers::local {

inline constexpr uint32_t kRanksMax = 64;

// What a rank says of the collective that it comes to.
struct Said {
  CollectiveOperation operation;
  Reduction reduction;
  ElementType element_type;
  uint32_t root;
  uint32_t to;
  uint32_t from;
  uint64_t bytes;  // Of the smaller side.
};

struct alignas(64) RankBlock {
  std::atomic<uint32_t> arrived;  // Steps.
  Said said[2];
};

struct alignas(64) LetterBox {
  std::atomic<uint32_t> sent;
  std::atomic<uint32_t> taken;
  std::atomic<uint32_t> refused;  // The number of the last letter that was not what the receiver wanted.
  Said said;
  Said wanted;  // When refused.
};

class RankSegment {
 public:
  RankSegment() = default;
  RankSegment(RankSegment&& other) noexcept { *this = std::move(other); }
  RankSegment& operator=(RankSegment&& other) noexcept;
  ~RankSegment();

  // Of rank 0; the others find it by its name(). The name goes with forget_name(), or with this.
  static Result<RankSegment> make(uint32_t rank_count, int64_t timeout_ns);
  static Result<RankSegment> find(const std::string& name, uint32_t rank, uint32_t rank_count, int64_t timeout_ns);
  const std::string& name() const { return name_; }
  void forget_name();

  uint64_t slot_bytes() const;
  uint64_t letter_bytes() const;

  // This rank's, or another's, half of the step that comes next or that wait() ended.
  Said& said(uint32_t rank);
  std::byte* slot(uint32_t rank);
  // Ends this rank's writing, and waits until all ranks have ended theirs. next_step() ends its reading.
  Status meet();
  void next_step() { ++step_; }

  LetterBox& box(uint32_t from, uint32_t to);
  std::byte* letter(uint32_t from, uint32_t to);
  // Until `word`, which rank `peer` raises, is `value`.
  Status wait_for(const std::atomic<uint32_t>& word, uint32_t value, uint32_t peer);
  void raise(std::atomic<uint32_t>& word);

  // The channel is over: every rank is told now, or when it comes.
  Status give_up(Status why);

 private:
  struct Head;

  Head& head();
  RankBlock& block(uint32_t rank);
  Status map(uint32_t rank_count);
  Status given_up();
  void ring();

  std::string name_;
  bool named_ = false;
  int file_ = -1;
  std::byte* memory_ = nullptr;
  uint64_t size_ = 0;
  uint32_t rank_ = 0;
  uint32_t rank_count_ = 0;
  uint32_t step_ = 0;
  int64_t timeout_ns_ = 0;
};

}  // namespace baton::hal::drivers::local
