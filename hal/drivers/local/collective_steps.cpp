#include "hal/drivers/local/collective_steps.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hal/drivers/local/reduction.hpp"

namespace baton::hal::drivers::local {
namespace {

// A step of nothing has no memory behind it.
void move_bytes(std::byte* target, const std::byte* source, uint64_t bytes) {
  if (bytes) std::memmove(target, source, static_cast<size_t>(bytes));
}

std::string said_text(const Said& said) {
  std::string line = text(commands::collective_name(said.operation));
  if (said.reduction != Reduction::kNone) line += text(" ", commands::reduction_name(said.reduction));
  line += text(" of ", said.bytes, " bytes of ", element_type_name(said.element_type));
  if (has_root(said.operation)) line += text(" with root ", said.root);
  if (sends_to_one(said.operation) && said.to != kNoRank) line += text(" to ", said.to);
  if (receives_from_one(said.operation) && said.from != kNoRank) line += text(" from ", said.from);
  return line;
}

bool agree(const Said& a, const Said& b) {
  return a.operation == b.operation && a.reduction == b.reduction && a.element_type == b.element_type &&
         a.bytes == b.bytes && a.root == b.root;
}

Status disagree(uint32_t first, const Said& a, uint32_t second, const Said& b) {
  return failure(StatusCode::kFailedPrecondition, "The ranks disagree: rank ", first, " has ", said_text(a), ", rank ",
                 second, " has ", said_text(b), ".");
}

class Steps {
 public:
  Steps(RankSegment& segment, const CollectiveWork& work, uint32_t rank, uint32_t rank_count)
      : segment_(segment), work_(work), rank_(rank), rank_count_(rank_count) {}

  Status run() {
    if (work_.operation == CollectiveOperation::kSend) return send();
    if (work_.operation == CollectiveOperation::kReceive) return receive();
    const uint64_t part = part_bytes(), piece_max = piece_bytes_max();
    for (uint64_t offset = 0; offset == 0 || offset < part; offset += piece_max) {
      const uint64_t bytes = std::min(piece_max, part - offset);
      if (offset == 0) segment_.said(rank_) = said();
      write(offset, bytes);
      BATON_TRY(segment_.meet());
      Status checked = offset == 0 ? check() : Status();
      if (checked.ok()) read(offset, bytes);
      segment_.next_step();
      BATON_TRY(std::move(checked));
    }
    return {};
  }

 private:
  // What the steps go through: a rank's share where there are shares, else everything.
  uint64_t part_bytes() const {
    const uint64_t bytes = std::min(work_.source_bytes, work_.target_bytes);
    return work_.operation == CollectiveOperation::kAllToAll ? bytes / rank_count_ : bytes;
  }

  // Whether a slot has a piece for each rank.
  bool has_pieces() const {
    return work_.operation == CollectiveOperation::kAllToAll || work_.operation == CollectiveOperation::kReduceScatter;
  }
  uint64_t piece_bytes_max() const {
    const uint64_t bytes = segment_.slot_bytes() / (has_pieces() ? rank_count_ : 1);
    return bytes / 64 * 64;  // Whole elements of every type, on lines of their own.
  }

  Said said() const {
    const bool sends = work_.operation == CollectiveOperation::kSend;
    const bool receives = work_.operation == CollectiveOperation::kReceive;
    const uint64_t bytes = sends      ? work_.source_bytes
                           : receives ? work_.target_bytes
                                      : std::min(work_.source_bytes, work_.target_bytes);
    return {work_.operation,
            work_.reduction,
            work_.element_type,
            has_root(work_.operation) ? work_.root : 0,
            sends_to_one(work_.operation) ? work_.to : kNoRank,
            receives_from_one(work_.operation) ? work_.from : kNoRank,
            bytes};
  }

  // All ranks find the same.
  Status check() const {
    const Said& first = segment_.said(0);
    for (uint32_t rank = 1; rank < rank_count_; ++rank) {
      if (!agree(first, segment_.said(rank))) return disagree(0, first, rank, segment_.said(rank));
    }
    if (first.operation != CollectiveOperation::kPermute) return {};
    for (uint32_t rank = 0; rank < rank_count_; ++rank) {
      const Said& here = segment_.said(rank);
      if (here.to < rank_count_ && segment_.said(here.to).from != rank) {
        return disagree(rank, here, here.to, segment_.said(here.to));
      }
      if (here.from < rank_count_ && segment_.said(here.from).to != rank) {
        return disagree(rank, here, here.from, segment_.said(here.from));
      }
    }
    return {};
  }

  std::byte* piece(uint32_t of, uint32_t index) { return segment_.slot(of) + index * piece_bytes_max(); }

  void write(uint64_t offset, uint64_t bytes) {
    if (has_pieces()) {
      const uint64_t part = part_bytes();
      for (uint32_t rank = 0; rank < rank_count_; ++rank) {
        move_bytes(piece(rank_, rank), work_.source + rank * part + offset, bytes);
      }
      return;
    }
    if (work_.operation == CollectiveOperation::kBroadcast && rank_ != work_.root) return;
    if (work_.operation == CollectiveOperation::kPermute && work_.to == kNoRank) return;
    move_bytes(segment_.slot(rank_), work_.source + offset, bytes);
  }

  void read(uint64_t offset, uint64_t bytes) {
    std::byte* target = work_.target + offset;
    const uint64_t part = part_bytes();
    switch (work_.operation) {
      case CollectiveOperation::kAllReduce: return reduce(target, bytes, 0);
      case CollectiveOperation::kReduce:
        if (rank_ == work_.root) reduce(target, bytes, 0);
        return;
      case CollectiveOperation::kReduceScatter: return reduce(target, bytes, rank_ * piece_bytes_max());
      case CollectiveOperation::kAllGather:
        for (uint32_t rank = 0; rank < rank_count_; ++rank)
          move_bytes(target + rank * part, segment_.slot(rank), bytes);
        return;
      case CollectiveOperation::kAllToAll:
        for (uint32_t rank = 0; rank < rank_count_; ++rank) move_bytes(target + rank * part, piece(rank, rank_), bytes);
        return;
      case CollectiveOperation::kBroadcast: return move_bytes(target, segment_.slot(work_.root), bytes);
      case CollectiveOperation::kPermute:
        if (work_.from != kNoRank) return move_bytes(target, segment_.slot(work_.from), bytes);
        if (bytes) std::memset(target, 0, static_cast<size_t>(bytes));
        return;
      case CollectiveOperation::kSend:
      case CollectiveOperation::kReceive: return;
    }
  }

  void reduce(std::byte* target, uint64_t bytes, uint64_t at) {
    const std::byte* sources[kRanksMax];
    for (uint32_t rank = 0; rank < rank_count_; ++rank) sources[rank] = segment_.slot(rank) + at;
    reduce_elements(work_.element_type, work_.reduction, {sources, rank_count_}, target,
                    bytes / element_bytes(work_.element_type));
  }

  // ---- Between two -------------------------------------------------------------------------------------------------

  Status send() {
    LetterBox& box = segment_.box(rank_, work_.to);
    const uint64_t most = segment_.letter_bytes();
    for (uint64_t offset = 0; offset == 0 || offset < work_.source_bytes; offset += most) {
      box.said = said();
      move_bytes(segment_.letter(rank_, work_.to), work_.source + offset, std::min(most, work_.source_bytes - offset));
      const uint32_t number = box.sent.load() + 1;
      segment_.raise(box.sent);
      BATON_TRY(segment_.wait_for(box.taken, number, work_.to));
      if (box.refused.load() == number) return disagree(rank_, said(), work_.to, box.wanted);
    }
    return {};
  }

  Status receive() {
    LetterBox& box = segment_.box(work_.from, rank_);
    const uint64_t most = segment_.letter_bytes();
    for (uint64_t offset = 0; offset == 0 || offset < work_.target_bytes; offset += most) {
      const uint32_t number = box.taken.load() + 1;
      BATON_TRY(segment_.wait_for(box.sent, number, work_.from));
      const Said sent = box.said;
      const bool fits = sent.bytes == work_.target_bytes && sent.element_type == work_.element_type;
      if (fits) {
        move_bytes(work_.target + offset, segment_.letter(work_.from, rank_),
                   std::min(most, work_.target_bytes - offset));
      } else {
        box.wanted = said();
        box.refused.store(number);
      }
      segment_.raise(box.taken);
      if (!fits) return disagree(work_.from, sent, rank_, said());
    }
    return {};
  }

  RankSegment& segment_;
  const CollectiveWork& work_;
  const uint32_t rank_;
  const uint32_t rank_count_;
};

}  // namespace

Status run_steps(RankSegment& segment, const CollectiveWork& work, uint32_t rank, uint32_t rank_count) {
  return Steps(segment, work, rank, rank_count).run();
}

}  // namespace baton::hal::drivers::local
