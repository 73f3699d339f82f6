#include "hal/drivers/local/channel.hpp"

#include <algorithm>

#include "hal/rank_meeting.hpp"

namespace baton::hal::drivers::local {
namespace {

Status too_many(uint32_t rank_count) {
  return failure(StatusCode::kUnimplemented, rank_count, " ranks are more than the ", kRanksMax,
                 " that one machine's channel has.");
}

Status keep(Result<RankSegment> made, RankSegment& segment) {
  if (!made.has_value()) return std::move(made).error();
  segment = std::move(*made);
  return {};
}

Status lead(const ChannelRequest& request, RankMeeting& meeting, RankSegment& segment) {
  Status made = keep(RankSegment::make(request.rank_count, request.timeout_ns), segment);
  BATON_TRY(meeting.tell(made.ok() ? Result<std::string>(segment.name()) : Result<std::string>(std::move(made))));
  BATON_TRY(meeting.conclude({}));
  segment.forget_name();
  return {};
}

Status follow(const ChannelRequest& request, RankMeeting& meeting, RankSegment& segment) {
  auto name = meeting.hear();
  Status found = name.has_value()
                     ? keep(RankSegment::find(*name, request.rank, request.rank_count, request.timeout_ns), segment)
                     : std::move(name).error();
  return meeting.conclude(std::move(found));
}

// What a rank says when a channel is split.
struct Wish {
  int32_t color;
  int32_t key;
};
struct Address {
  char name[64];
};

}  // namespace

Result<Ref<hal::Channel>> Channel::make(const ChannelRequest& request) {
  if (request.rank_count > kRanksMax) return too_many(request.rank_count);
  if (!request.store) return no_store(request);
  RankMeeting meeting(request);
  RankSegment found;
  BATON_TRY(request.rank == 0 ? lead(request, meeting, found) : follow(request, meeting, found));
  BATON_TRY(found.meet());  // The store is not used from here on.
  found.next_step();
  return Ref<hal::Channel>(
      make_ref<Channel>(request.name, request.rank, request.rank_count, std::move(found), request.timeout_ns));
}

Status Channel::run(const CollectiveWork& work) {
  std::lock_guard lock(mutex_);
  return run_steps(segment_, work, rank(), rank_count());
}

Status Channel::gather(const void* mine, size_t size, void* all) {
  return run({.operation = CollectiveOperation::kAllGather,
              .element_type = ElementType::kU8,
              .source = static_cast<const std::byte*>(mine),
              .target = static_cast<std::byte*>(all),
              .source_bytes = size,
              .target_bytes = size * rank_count()});
}

// The first rank of each new channel makes its memory, and tells all where it is.
Result<Ref<hal::Channel>> Channel::do_split(std::string_view part_name, int32_t color, int32_t key) {
  const Wish wish = {color, key};
  Wish wishes[kRanksMax];
  BATON_TRY(gather(&wish, sizeof(wish), wishes));
  uint32_t members[kRanksMax];
  uint32_t count = 0;
  for (uint32_t rank = 0; rank < rank_count(); ++rank) {
    if (color >= 0 && wishes[rank].color == color) members[count++] = rank;
  }
  std::sort(members, members + count, [&](uint32_t a, uint32_t b) {
    return wishes[a].key != wishes[b].key ? wishes[a].key < wishes[b].key : a < b;
  });
  const auto own = static_cast<uint32_t>(std::find(members, members + count, rank()) - members);

  RankSegment segment;
  Status outcome;
  Address address = {}, addresses[kRanksMax];
  if (count > 1 && own == 0) {
    outcome = keep(RankSegment::make(count, timeout_ns_), segment);
    segment.name().copy(address.name, sizeof(address.name) - 1);
  }
  BATON_TRY(gather(&address, sizeof(address), addresses));
  if (count > 1 && own != 0) {
    Address& first = addresses[members[0]];
    first.name[sizeof(first.name) - 1] = 0;
    outcome = keep(RankSegment::find(first.name, own, count, timeout_ns_), segment);
  }
  const uint8_t failed = !outcome.ok();
  uint8_t failures[kRanksMax];
  BATON_TRY(gather(&failed, sizeof(failed), failures));  // All have found it, and hold their locks.
  BATON_TRY(std::move(outcome));
  for (uint32_t i = 0; i < count; ++i) {
    if (failures[members[i]]) return failure(StatusCode::kUnavailable, "Rank ", members[i], " could not share memory.");
  }
  if (count == 0) return Ref<hal::Channel>();
  if (count == 1) return make_ref<hal::Channel>(part_name, 0u, 1u);
  segment.forget_name();
  return Ref<hal::Channel>(make_ref<Channel>(part_name, own, count, std::move(segment), timeout_ns_));
}

}  // namespace baton::hal::drivers::local
