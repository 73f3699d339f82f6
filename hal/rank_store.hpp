// RankStore: where ranks that know nothing of each other yet leave words for each other: key and value, written once.
//
// A channel needs it only until its ranks have met. Stores are named by where they are:
//
//   file:/shared/job-7      a directory that all ranks see
//   tcp://node0:4711        rank 0 listens there, the others connect
//
// Threads: internally synchronized.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace baton::hal {

class RankStore {
 public:
  virtual ~RankStore() = default;

  virtual Status set(std::string_view key, std::string_view value) = 0;
  // Waits for what rank `from` will set; UNAVAILABLE when it is gone, DEADLINE_EXCEEDED after timeout_ns.
  virtual Result<std::string> get(std::string_view key, uint32_t from, int64_t timeout_ns) = 0;
  virtual void remove(std::string_view key) = 0;

  // The key under which the ranks that said `name` meet, each time another: all ranks say their names in one order.
  std::string next_meeting(std::string_view name, uint32_t rank);

 private:
  std::mutex mutex_;
  std::map<std::string, uint64_t> meetings_;  // Guarded by mutex_.
};

// For ranks that are threads of one process.
std::shared_ptr<RankStore> make_memory_store();
// By its name, as above, for one rank of several.
Result<std::shared_ptr<RankStore>> open_rank_store(std::string_view name, uint32_t rank, int64_t timeout_ns);

Result<std::shared_ptr<RankStore>> open_file_store(const std::string& directory, uint32_t rank);
Result<std::shared_ptr<RankStore>> open_tcp_store(std::string_view address, uint32_t rank, int64_t timeout_ns);

// The message for a get() that timed out.
Status too_late(std::string_view key, uint32_t from, int64_t timeout_ns);
Status rank_is_gone(std::string_view key, uint32_t from);

}  // namespace baton::hal
