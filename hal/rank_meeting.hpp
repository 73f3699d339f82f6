// RankMeeting: how the ranks of a channel that is being made meet in a store. Rank 0 writes a word (where its memory is,
// an id), each other rank writes whether it could use the word, and rank 0 writes the outcome for all. A rank that fails
// writes why, so that no other waits for it.
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
  const std::string key_;  // Values under it are never removed: another rank may read them much later.
};

}  // namespace baton::hal
