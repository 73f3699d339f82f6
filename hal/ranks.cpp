#include "hal/ranks.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>

namespace baton::hal {
namespace {

using Find = const char* (*)(const char* name);

// Who says rank and count, in the order in which they are asked. `only_with`: else the variables mean something else.
struct Starter {
  const char* rank;
  const char* count;
  const char* only_with;
};
constexpr Starter kStarters[] = {
    {"BATON_RANK", "BATON_RANKS", nullptr},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
    {"PMI_RANK", "PMI_SIZE", nullptr},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
};
// Variables that say how many ranks run on this machine. Without one of them Baton assumes that all do.
constexpr const char* kLocalCounts[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};

Result<uint32_t> number(Find find, const char* name) {
  const char* given = find(name);
  const std::string_view digits = given ? given : "";
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end == digits.data() + digits.size() && !digits.empty()) return value;
  return failure(StatusCode::kInvalidArgument, "The environment says ", name, "='", digits, "', which is no number.");
}

// The ranks of one machine have one parent, and no other job has it at the time. The second half is when it was
// started: numbers of processes come again.
std::string meeting_place() {
  char path[64], line[1024] = {};
  std::snprintf(path, sizeof(path), "/proc/%d/stat", getppid());
  if (std::FILE* file = std::fopen(path, "r")) {
    if (!std::fgets(line, sizeof(line), file)) line[0] = 0;
    std::fclose(file);
  }
  const std::string_view facts = line;
  size_t at = facts.rfind(')');
  for (int field = 2; field < 22 && at != std::string_view::npos; ++field) at = facts.find(' ', at + 1);
  const std::string_view since =
      at == std::string_view::npos ? "0" : facts.substr(at + 1, facts.find(' ', at + 1) - at - 1);
  return text("/dev/shm/baton-ranks-", geteuid(), "-", getppid(), "-", since);
}

Status check_local(Find find, const Ranks& ranks) {
  for (const char* name : kLocalCounts) {
    if (!find(name)) continue;
    BATON_TRY_ASSIGN(const uint32_t here, number(find, name));
    if (here == ranks.count) return {};
    return failure(StatusCode::kFailedPrecondition, "Of ", ranks.count, " ranks, ", here,
                   " are on this machine; say BATON_STORE=tcp://host:port, where host is rank 0's.");
  }
  return {};
}

// `said` is empty or goes before the environment's.
Status open_store(Find find, std::string_view said, Ranks& ranks) {
  const char* name = find("BATON_STORE");
  if (said.empty() && name) said = name;
  if (!said.empty()) {
    BATON_TRY_ASSIGN(ranks.store, open_rank_store(said, ranks.rank, ranks.timeout_ns));
    return {};
  }
  BATON_TRY(check_local(find, ranks));
  BATON_TRY_ASSIGN(ranks.store, open_file_store(meeting_place(), ranks.rank));
  return {};
}

Status read_habits(Find find, Ranks& ranks) {
  if (find("BATON_RANK_TIMEOUT")) {
    BATON_TRY_ASSIGN(const uint32_t seconds, number(find, "BATON_RANK_TIMEOUT"));
    ranks.timeout_ns = int64_t{seconds} * 1'000'000'000;
  }
  if (find("BATON_RANK_CHECK")) {
    BATON_TRY_ASSIGN(const uint32_t checks, number(find, "BATON_RANK_CHECK"));
    ranks.checks = checks != 0;
  }
  return {};
}

const char* environment(const char* name) { return std::getenv(name); }

Result<Ranks> open_ranks(const RanksRequest& request) {
  Ranks ranks{.rank = request.rank, .count = request.count};
  BATON_TRY(read_habits(environment, ranks));
  if (request.timeout_ns > 0) ranks.timeout_ns = request.timeout_ns;
  if (ranks.count > 1) BATON_TRY(open_store(environment, request.store, ranks));
  return ranks;
}

// The ranks of this process. A child that it forks is not a rank, and leaves its parent's store as it is.
class ProcessRanks {
 public:
  ~ProcessRanks() {
    if (ranks_ && getpid() != process_) new std::shared_ptr<RankStore>(std::move(ranks_->store));
  }

  Result<Ranks> find() {
    std::lock_guard lock(mutex_);
    if (!ranks_) {
      BATON_TRY_ASSIGN(ranks_, ranks_of_environment());
      process_ = getpid();
    }
    return own();
  }

  Status join(const RanksRequest& request) {
    std::lock_guard lock(mutex_);
    if (!ranks_) {
      BATON_TRY_ASSIGN(ranks_, open_ranks(request));
      process_ = getpid();
      return {};
    }
    BATON_TRY_ASSIGN(const Ranks ranks, own());
    if (ranks.rank == request.rank && ranks.count == request.count) return {};
    return failure(StatusCode::kFailedPrecondition, "This process is rank ", ranks.rank, " of ", ranks.count,
                   "; it can't become rank ", request.rank, " of ", request.count, ".");
  }

 private:
  Result<Ranks> own() const {
    if (getpid() == process_ || ranks_->count == 1) return *ranks_;
    return failure(StatusCode::kFailedPrecondition, "Rank ", ranks_->rank, " of ", ranks_->count,
                   " is the process that forked this one; ranks are processes that were started by themselves.");
  }

  std::mutex mutex_;
  std::optional<Ranks> ranks_;  // Guarded by mutex_, as is process_.
  pid_t process_ = 0;
};

ProcessRanks& process_ranks() {
  static ProcessRanks ranks;
  return ranks;
}

}  // namespace

Result<Ranks> ranks_of_environment(Find find) {
  Ranks ranks;
  for (const Starter& starter : kStarters) {
    const bool said = find(starter.rank) || (find(starter.count) && starter.rank == kStarters[0].rank);
    if (!said || (starter.only_with && !find(starter.only_with))) continue;
    BATON_TRY_ASSIGN(ranks.rank, number(find, starter.rank));
    BATON_TRY_ASSIGN(ranks.count, number(find, starter.count));
    if (ranks.rank >= ranks.count) {
      return failure(StatusCode::kInvalidArgument, "The environment says ", starter.rank, "=", ranks.rank, " and ",
                     starter.count, "=", ranks.count, "; ranks are counted from 0.");
    }
    break;
  }
  BATON_TRY(read_habits(find, ranks));
  if (ranks.count > 1) BATON_TRY(open_store(find, "", ranks));
  return ranks;
}

Result<Ranks> ranks_of_environment() { return ranks_of_environment(environment); }

Result<Ranks> ranks_of_process() { return process_ranks().find(); }

Status join_ranks(const RanksRequest& request) {
  if (request.rank >= request.count) {
    return failure(StatusCode::kInvalidArgument, "There is no rank ", request.rank, " of ", request.count,
                   "; ranks are counted from 0.");
  }
  return process_ranks().join(request);
}

}  // namespace baton::hal
