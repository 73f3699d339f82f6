#include "tools/support/rank_output.hpp"

#include <unistd.h>

#include <cstdio>

namespace baton::tools {
namespace {

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

void put_rank(const hal::Ranks& ranks, std::initializer_list<std::vector<std::string>*> lists) {
  for (std::vector<std::string>* list : lists) {
    for (std::string& word : *list) word = with_rank(std::move(word), ranks);
  }
}

RankOutput::RankOutput(const hal::Ranks& ranks) : ranks_(ranks) {
  if (ranks.count == 1) return;
  std::fflush(stdout);
  std::FILE* const file = std::tmpfile();
  if (!file) return;
  kept_ = dup(fileno(file));
  std::fclose(file);
  shown_ = dup(STDOUT_FILENO);
  dup2(kept_, STDOUT_FILENO);
}

void RankOutput::give() {
  if (kept_ < 0) return;
  std::fflush(stdout);
  dup2(shown_, STDOUT_FILENO);
  close(shown_);
  char bytes[4096];
  lseek(kept_, 0, SEEK_SET);
  while (const ssize_t count = read(kept_, bytes, sizeof(bytes))) {
    if (count < 0) break;
    std::fwrite(bytes, 1, static_cast<size_t>(count), stdout);
  }
  std::fflush(stdout);
  close(kept_);
  kept_ = -1;
}

// Rank 0 leaves last: it may serve the store.
Status RankOutput::print_in_turn() {
  hal::RankStore& store = *ranks_.store;
  const uint32_t last = ranks_.count - 1;
  if (ranks_.rank > 0) {
    BATON_TRY_ASSIGN(const std::string before, store.get(turn(ranks_.rank - 1), ranks_.rank - 1, ranks_.timeout_ns));
  }
  give();
  BATON_TRY(store.set(turn(ranks_.rank), ""));
  if (ranks_.rank == 0) {
    BATON_TRY_ASSIGN(const std::string all, store.get(turn(last), last, ranks_.timeout_ns));
    return store.set("printed", "");
  }
  const auto end = store.get("printed", 0, ranks_.timeout_ns);
  const bool gone = !end.has_value() && end.error().code() == StatusCode::kUnavailable;
  return end.has_value() || gone ? Status() : end.error().clone();
}

Status RankOutput::finish(Status status) {
  if (ranks_.count == 1) return status;
  if (status.ok()) status = print_in_turn();
  if (status.ok()) return status;
  return std::move(status).with_context(text("on rank ", ranks_.rank, " of ", ranks_.count));
}

}  // namespace baton::tools
