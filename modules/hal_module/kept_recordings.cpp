#include "modules/hal_module/kept_recordings.hpp"

#include <sched.h>

#include <algorithm>

#include "base/reference_count.hpp"
#include "modules/hal_module/exports.hpp"

namespace baton::modules {

// Who holds it gives it back within some instructions.
class KeptRecordings::Held {
 public:
  explicit Held(std::atomic<bool>& held) : held_(is_single_threaded() ? nullptr : &held) {
    while (held_ && held_->exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~Held() {
    if (held_) held_->store(false, std::memory_order_release);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::atomic<bool>* held_;
};

namespace {

bool are_same(const std::vector<int64_t>& made_for, const sdk::Variadic<int64_t>& keys) {
  if (made_for.size() != keys.size()) return false;
  for (size_t i = 0; i < made_for.size(); ++i) {
    if (made_for[i] != keys[i]) return false;
  }
  return true;
}

}  // namespace

sdk::Ref<KeptRecordings::Kept> KeptRecordings::find(const Keys& keys) {
  const Held held(held_);
  for (const Entry& entry : entries_) {
    if (entry.recording && are_same(entry.keys, keys)) return entry.recording;
  }
  return nullptr;
}

void KeptRecordings::keep(Kept& recording, const Keys& keys) {
  Entry entry = {sdk::Ref<Kept>(&recording), {}};
  for (const int64_t key : keys) entry.keys.push_back(key);
  const Held held(held_);
  std::rotate(entries_.begin(), entries_.end() - 1, entries_.end());
  std::swap(entries_.front(), entry);  // The oldest dies with `entry`, when the flag is given back.
}

namespace exports::kept_recordings {

sdk::Ref<KeptRecordings> create() { return sdk::make<KeptRecordings>(); }
std::tuple<bool, sdk::Ref<Handle<hal::Recording>>> find(KeptRecordings& kept, const Variadic<int64_t>& keys) {
  auto found = kept.find(keys);
  const bool known = found != nullptr;
  return {known, std::move(found)};
}
void keep(KeptRecordings& kept, Handle<hal::Recording>& recording, const Variadic<int64_t>& keys) {
  kept.keep(recording, keys);
}

}  // namespace exports::kept_recordings
}  // namespace baton::modules
