#include "hal/ranks.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

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
// How many of the ranks are on this machine; what doesn't say is believed to have all here.
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

Status open_store(Find find, Ranks& ranks) {
  if (const char* name = find("BATON_STORE")) {
    BATON_TRY_ASSIGN(ranks.store, open_rank_store(name, ranks.rank, ranks.timeout_ns));
    return {};
  }
  BATON_TRY(check_local(find, ranks));
  BATON_TRY_ASSIGN(ranks.store, open_file_store(meeting_place(), ranks.rank));
  return {};
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
  if (find("BATON_RANK_TIMEOUT")) {
    BATON_TRY_ASSIGN(const uint32_t seconds, number(find, "BATON_RANK_TIMEOUT"));
    ranks.timeout_ns = int64_t{seconds} * 1'000'000'000;
  }
  if (find("BATON_RANK_CHECK")) {
    BATON_TRY_ASSIGN(const uint32_t checks, number(find, "BATON_RANK_CHECK"));
    ranks.checks = checks != 0;
  }
  if (ranks.count > 1) BATON_TRY(open_store(find, ranks));
  return ranks;
}

Result<Ranks> ranks_of_environment() {
  return ranks_of_environment([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace baton::hal
