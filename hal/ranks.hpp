// Ranks: how many processes work together, which one this is, and where they meet, as the environment says.
//
//   BATON_RANK=1 BATON_RANKS=2 BATON_STORE=tcp://node0:4711       set by hand
//   OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID                  by mpirun, srun and their like
//   BATON_RANK_TIMEOUT=30                                         seconds that a rank waits for the others
//   BATON_RANK_CHECK=1                                            ranks compare the collectives that they record
//
// Without BATON_STORE ranks that one process started meet on its machine.
#pragma once

#include <memory>
#include <string>

#include "hal/channel.hpp"
#include "hal/rank_store.hpp"

namespace baton::hal {

struct Ranks {
  uint32_t rank = 0;
  uint32_t count = 1;
  std::shared_ptr<RankStore> store = nullptr;  // Null: there is one rank.
  int64_t timeout_ns = kChannelTimeoutNs;
  bool checks = false;  // Ranks compare the collectives that they record.

  // The request for a channel of all of them.
  ChannelRequest channel(std::string_view name) const {
    return {name, rank, count, store.get(), timeout_ns, checks ? store : nullptr};
  }
};

// Does not look for the others yet, but for a store that rank 0 serves.
Result<Ranks> ranks_of_environment();
// The same of another environment: `find` returns null for what it doesn't have.
Result<Ranks> ranks_of_environment(const char* (*find)(const char* name));

// What an app says in place of the environment. The rest, whether ranks check what they record, stays the environment's.
struct RanksRequest {
  uint32_t rank = 0;
  uint32_t count = 1;
  std::string store = "";  // As BATON_STORE; empty: that, or the ranks that one process started on this machine.
  int64_t timeout_ns = 0;  // 0: the environment's.
};

// A process is one rank, whatever programs it runs: all of them meet the others in one store, which stays open until the
// process ends. The ranks are those of the environment, found when a program first asks for them, or else what
// join_ranks() said before. What failed may be tried again.
//
// Threads: any.
Result<Ranks> ranks_of_process();
// FAILED_PRECONDITION when the process is already another rank; stating the same rank again is allowed.
Status join_ranks(const RanksRequest& request);

}  // namespace baton::hal
