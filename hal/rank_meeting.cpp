#include "hal/rank_meeting.hpp"

#include "hal/rank_store.hpp"

namespace baton::hal {
namespace {

constexpr char kOk = '+', kFailed = '-';

}  // namespace

RankMeeting::RankMeeting(const ChannelRequest& request)
    : request_(request), key_(request.store->next_meeting(request.name, request.rank)) {}

// The number of ranks goes first: who believes in another one is told so before anything else happens.
Status RankMeeting::tell(const Result<std::string>& word) {
  if (word.has_value()) return say(key_, {}, text(request_.rank_count, " ", *word));
  BATON_TRY(say(key_, word.error()));
  return word.error().clone();
}

Result<std::string> RankMeeting::hear() {
  BATON_TRY_ASSIGN(const std::string word, listen(key_, 0));
  const std::string count = text(request_.rank_count);
  const size_t space = word.find(' ');
  if (word.substr(0, space) == count) return word.substr(space + 1);
  return failure(StatusCode::kFailedPrecondition, "The ranks disagree: rank 0 makes the channel for ",
                 word.substr(0, space), " ranks, rank ", request_.rank, " for ", count, ".");
}

Status RankMeeting::conclude(Status outcome) {
  if (request_.rank == 0) return collect(std::move(outcome));
  BATON_TRY(say(text(key_, "/", request_.rank), outcome));
  BATON_TRY(std::move(outcome));
  BATON_TRY_ASSIGN(const std::string all, listen(key_ + "/all", 0));
  return {};
}

Status RankMeeting::collect(Status own) {
  for (uint32_t rank = 1; rank < request_.rank_count && own.ok(); ++rank) {
    auto word = listen(text(key_, "/", rank), rank);
    if (!word.has_value()) own = std::move(word).error();
  }
  BATON_TRY(say(key_ + "/all", own));
  return own;
}

Status RankMeeting::say(const std::string& key, const Status& outcome, std::string_view word) {
  return request_.store->set(key, outcome.ok() ? text(kOk, word) : text(kFailed, outcome.message()));
}

Result<std::string> RankMeeting::listen(const std::string& key, uint32_t from) {
  BATON_TRY_ASSIGN(const std::string word, request_.store->get(key, from, request_.timeout_ns));
  if (!word.empty() && word[0] == kOk) return word.substr(1);
  return failure(StatusCode::kUnavailable, "Rank ", from, " failed: ", word.empty() ? word : word.substr(1));
}

}  // namespace baton::hal
