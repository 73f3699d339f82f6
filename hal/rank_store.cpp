#include "hal/rank_store.hpp"

#include <chrono>
#include <condition_variable>

namespace baton::hal {
namespace {

class MemoryStore final : public RankStore {
 public:
  Status set(std::string_view key, std::string_view value) override {
    std::lock_guard lock(mutex_);
    values_.insert_or_assign(std::string(key), std::string(value));
    changed_.notify_all();
    return {};
  }

  Result<std::string> get(std::string_view key, uint32_t from, int64_t timeout_ns) override {
    std::unique_lock lock(mutex_);
    auto found = values_.end();
    const auto is_there = [&] { return (found = values_.find(key)) != values_.end(); };
    if (changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_there)) return found->second;
    return too_late(key, from, timeout_ns);
  }

  void remove(std::string_view key) override {
    std::lock_guard lock(mutex_);
    if (const auto found = values_.find(key); found != values_.end()) values_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string, std::less<>> values_;  // Guarded by mutex_.
};

}  // namespace

std::string RankStore::next_meeting(std::string_view name, uint32_t rank) {
  std::lock_guard lock(mutex_);
  const uint64_t count = meetings_[text(rank, ":", name)]++;
  return text("channel/", name, "/", count);
}

std::shared_ptr<RankStore> make_memory_store() { return std::make_shared<MemoryStore>(); }

Result<std::shared_ptr<RankStore>> open_rank_store(std::string_view name, uint32_t rank, int64_t timeout_ns) {
  constexpr std::string_view file = "file:", tcp = "tcp://";
  if (name.substr(0, file.size()) == file && name.size() > file.size()) {
    return open_file_store(std::string(name.substr(file.size())), rank);
  }
  if (name.substr(0, tcp.size()) == tcp) return open_tcp_store(name.substr(tcp.size()), rank, timeout_ns);
  return failure(StatusCode::kInvalidArgument, "'", name,
                 "' is no store of ranks; one is file:/directory or tcp://host:port.");
}

Status too_late(std::string_view key, uint32_t from, int64_t timeout_ns) {
  return failure(StatusCode::kDeadlineExceeded, "Rank ", from, " did not say '", key, "' within ",
                 timeout_ns / 1'000'000, " ms.");
}

Status rank_is_gone(std::string_view key, uint32_t from) {
  return failure(StatusCode::kUnavailable, "Rank ", from, " is gone; it did not say '", key, "'.");
}

}  // namespace baton::hal
