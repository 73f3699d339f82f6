// RankMeeting: how the ranks of a channel that is being made meet in a store. Rank 0 tells a word (where its memory is,
// an id), the others say whether they could do something with it, rank 0 says how it went for all. Whoever fails tells
// why, so that nobody waits for it.
// Threads: externally synchronized.
#pragma once

#include <string>

#include "hal/channel.hpp"

namespace baton::hal {

class RankMeeting {
 public:
  // The request outlives this and has a store.
  explicit RankMeeting(const ChannelRequest& request);

  // Names the meeting in the store, and no other.
  const std::string& key() const { return key_; }

  // Rank 0's: its word, or why it has none. Fails with that.
  Status tell(const Result<std::string>& word);
  // The others'.
  Result<std::string> hear();
  // Each rank's last act: how it went here. Fails with the first failure of all.
  Status conclude(Status outcome);

 private:
  Status say(const std::string& key, const Status& outcome, std::string_view word = "");
  Result<std::string> listen(const std::string& key, uint32_t from);
  Status collect(Status own);

  const ChannelRequest& request_;
  const std::string key_;  // What is said under it stays: another rank may come to read it much later.
};

}  // namespace baton::hal
