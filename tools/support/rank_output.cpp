#include "tools/support/rank_output.hpp"

#include <cstdio>

namespace baton::tools {
namespace {

constexpr size_t kKeptBytes = size_t{16} << 20;

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

std::string turn(uint32_t rank) { return text("printed/", rank); }

}  // namespace

std::string with_rank(std::string given, const hal::Ranks& ranks) {
  replace_all(given, "{rank}", text(ranks.rank));
  replace_all(given, "{ranks}", text(ranks.count));
  return given;
}

void keep_output() { std::setvbuf(stdout, nullptr, _IOFBF, kKeptBytes); }

// Rank 0 leaves last: it may serve the store.
Status print_in_turn(const hal::Ranks& ranks) {
  hal::RankStore& store = *ranks.store;
  const uint32_t last = ranks.count - 1;
  if (ranks.rank > 0) {
    BATON_TRY_ASSIGN(const std::string before, store.get(turn(ranks.rank - 1), ranks.rank - 1, ranks.timeout_ns));
  }
  std::fflush(stdout);
  BATON_TRY(store.set(turn(ranks.rank), ""));
  if (ranks.rank == 0) {
    BATON_TRY_ASSIGN(const std::string all, store.get(turn(last), last, ranks.timeout_ns));
    return store.set("printed", "");
  }
  const auto end = store.get("printed", 0, ranks.timeout_ns);
  const bool gone = !end.has_value() && end.error().code() == StatusCode::kUnavailable;
  return end.has_value() || gone ? Status() : end.error().clone();
}

}  // namespace baton::tools
