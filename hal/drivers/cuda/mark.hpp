// Mark: a place in the order of a stream; done when everything enqueued before it is.
//
// It keeps alive what the work before it uses (recordings, buffers, host functions under way), and it carries the
// failure of that work: its own (a host function that refused) or that of the work it waited for. Semaphores hold marks
// for values that the device will reach. A mark owns its event for good and goes back to its stream's spares with the
// last reference: in steady state none is created.
// Threads: internally synchronized, but for what it keeps, which only the thread that holds the stream touches until
// the mark is closed, and no thread until it is done.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/ref.hpp"
#include "hal/buffer.hpp"
#include "hal/drivers/cuda/symbols.hpp"
#include "hal/recording.hpp"

namespace baton::hal {
struct BoundTable;
}

namespace baton::hal::drivers::cuda {

class Stream;

// Other objects that must live until the work is done.
class Kept {
 public:
  virtual ~Kept() = default;
};

// What an execution that only signals touches lies in the first cache line.
class alignas(64) Mark {
 public:
  void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  // Whether the device has come by, or never will. Asks the device unless it is known.
  bool done();
  // Whether the device was seen to be past it; asks nothing.
  bool known_done() const;
  // Once done: ok, or why what was enqueued before it failed.
  Status outcome();
  // A part of the work failed; the first failure counts.
  void fail(const Status& status);
  // An execution before it meets other ranks: what it keeps may say that it failed (Recording::channel_failure), and
  // where no semaphore `hears` of that, the queue asks.
  void meet_ranks(bool hears) {
    ++meetings_;
    unheard_ |= !hears;
    may_fail_.store(true, std::memory_order_relaxed);
  }
  // How many of them. The count of a closed mark stays.
  uint32_t meetings() const { return meetings_; }
  bool failed() const { return may_fail_.load(std::memory_order_acquire) && has_failed(); }

  Stream& stream() const { return *stream_; }

  void keep(hal::Recording& recording) {
    if (possessions_.recording.get() == &recording) return;
    if (!possessions_.recording) {
      possessions_.recording = Ref<hal::Recording>(&recording);
    } else if (auto& recordings = more().recordings; recordings.empty() || recordings.back().get() != &recording) {
      recordings.emplace_back(&recording);
    }
  }
  void keep(hal::Buffer& buffer) {
    // Tables often name one buffer many times.
    auto& buffers = more().buffers;
    if (!buffers.empty() && buffers.back().get() == &buffer) return;
    buffers.emplace_back(&buffer);
  }
  void keep(std::vector<Ref<hal::Buffer>>&& buffers) {
    auto& kept = more().buffers;
    if (kept.empty()) return kept.swap(buffers);
    kept.insert(kept.end(), std::make_move_iterator(buffers.begin()), std::make_move_iterator(buffers.end()));
    buffers.clear();
  }
  void keep(std::shared_ptr<BoundTable>&& table) {
    if (possessions_.table == table) return;
    if (possessions_.table) more().tables.push_back(std::move(possessions_.table));
    possessions_.table = std::move(table);
  }
  // Before many are kept.
  void expect_buffers(size_t count) {
    if (count != 0) more().buffers.reserve(more().buffers.size() + count);
  }
  void keep(std::unique_ptr<Kept> kept) { more().kept.push_back(std::move(kept)); }
  void depend_on(const Ref<Mark>& mark) {
    More& others = more();
    others.first_dependency ? others.dependencies.push_back(mark) : void(others.first_dependency = mark);
    may_fail_.store(true, std::memory_order_relaxed);
  }
  // Beside tables that were bound and marks.
  size_t kept_count() const {
    const size_t first = possessions_.recording ? 1 : 0;
    return possessions_.more ? first + possessions_.more->count() : first;
  }

 private:
  friend class Stream;
  Mark() = default;
  ~Mark() = default;

  bool has_failed() const;
  // Beyond a recording and a table.
  struct More {
    std::vector<Ref<hal::Recording>> recordings;
    std::vector<std::shared_ptr<BoundTable>> tables;
    std::vector<Ref<hal::Buffer>> buffers;
    std::vector<std::unique_ptr<Kept>> kept;
    Ref<Mark> first_dependency;
    std::vector<Ref<Mark>> dependencies;

    size_t count() const { return recordings.size() + tables.size() + buffers.size() + kept.size(); }
  };
  // What it kept; the caller lets go of it when nothing is locked.
  struct Possessions {
    Ref<hal::Recording> recording;
    std::shared_ptr<BoundTable> table;  // The last of several.
    std::unique_ptr<More> more;
  };
  More& more() {
    if (!possessions_.more) possessions_.more = std::make_unique<More>();
    return *possessions_.more;
  }
  Possessions take_possessions();
  void watch_channels(const Ref<Mark>& self) const;
  Status find_failure(const Possessions& possessions) const;
  static Status find_channel_failure(const Possessions& possessions);

  std::atomic<uint32_t> count_{0};
  bool unheard_ = false;
  std::atomic<bool> may_fail_{false};  // False: the outcome is ok unless the device is lost, and no lock is needed.
  Ref<Stream> stream_;                 // Null: a spare.
  union {
    uint64_t ordinal_ = 0;  // 0: not closed yet.
    Mark* next_spare_;      // Of a spare.
  };
  CUevent event_ = nullptr;
  Possessions possessions_;
  uint32_t meetings_ = 0;

  mutable std::mutex mutex_;  // Of a closed mark: guards possessions_ too.
  Status failure_;            // Guarded by mutex_.
};

}  // namespace baton::hal::drivers::cuda
