// Mark: a place in the order of a stream; done when everything enqueued before it is.
//
// It keeps alive what the work before it uses (recordings, buffers, host functions under way), and it carries the
// failure of that work: its own (a host function that refused) or that of the work it waited for. Semaphores hold marks
// for values that the device will reach. A mark owns its event for good and goes back to its stream's spares with the
// last reference: in steady state none is created. Threads: internally synchronized, but for what it keeps, which
// belongs to whoever holds the stream until the mark is closed, and to nobody until it is done.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/ref.hpp"
#include "hal/buffer.hpp"
#include "hal/drivers/cuda/symbols.hpp"
#include "hal/recording.hpp"

namespace baton::hal::drivers::cuda {

class Stream;
struct BoundTable;

// Anything else that work needs until it is done.
class Kept {
 public:
  virtual ~Kept() = default;
};

class Mark {
 public:
  void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  // Whether the device has come by, or never will. Asks the device unless it is known.
  bool done();
  // Done as far as anybody has asked the device.
  bool known_done() const;
  // Once done: ok, or why what was enqueued before it failed.
  Status outcome();
  // A part of the work failed; the first failure counts.
  void fail(const Status& status);
  bool failed() const { return may_fail_.load(std::memory_order_acquire) && has_failed(); }

  Stream& stream() const { return *stream_; }

  void keep(hal::Recording& recording) {
    if (possessions_.recording.get() == &recording) return;
    if (!possessions_.recording) {
      possessions_.recording = Ref<hal::Recording>(&recording);
    } else if (possessions_.recordings.empty() || possessions_.recordings.back().get() != &recording) {
      possessions_.recordings.emplace_back(&recording);
    }
  }
  void keep(hal::Buffer& buffer) {
    // Tables often name one buffer many times.
    if (!possessions_.buffers.empty() && possessions_.buffers.back().get() == &buffer) return;
    possessions_.buffers.emplace_back(&buffer);
  }
  void keep(std::vector<Ref<hal::Buffer>>&& buffers) {
    auto& kept = possessions_.buffers;
    if (kept.empty()) return kept.swap(buffers);
    kept.insert(kept.end(), std::make_move_iterator(buffers.begin()), std::make_move_iterator(buffers.end()));
    buffers.clear();
  }
  void keep(const std::shared_ptr<BoundTable>& table) {
    if (possessions_.table == table) return;
    if (possessions_.table) possessions_.tables.push_back(std::move(possessions_.table));
    possessions_.table = table;
  }
  // Before many are kept.
  void expect_buffers(size_t count) { possessions_.buffers.reserve(possessions_.buffers.size() + count); }
  void keep(std::unique_ptr<Kept> kept) { possessions_.kept.push_back(std::move(kept)); }
  void depend_on(const Ref<Mark>& mark) {
    possessions_.dependencies.push_back(mark);
    may_fail_.store(true, std::memory_order_relaxed);
  }
  size_t kept_count() const {
    return size_t{possessions_.recording ? 1u : 0u} + possessions_.recordings.size() + possessions_.buffers.size() +
           possessions_.tables.size() + possessions_.kept.size();
  }

 private:
  friend class Stream;
  Mark() = default;
  ~Mark() = default;

  bool has_failed() const;
  // What it kept, for whoever lets go of it when nothing is locked.
  struct Possessions {
    Ref<hal::Recording> recording;      // Mostly there is one, which costs no allocation.
    std::shared_ptr<BoundTable> table;  // The last of several.
    std::vector<Ref<hal::Recording>> recordings;
    std::vector<std::shared_ptr<BoundTable>> tables;
    std::vector<Ref<hal::Buffer>> buffers;
    std::vector<std::unique_ptr<Kept>> kept;
    std::vector<Ref<Mark>> dependencies;
  };
  Possessions take_possessions();

  std::atomic<uint32_t> count_{0};
  Ref<Stream> stream_;
  uint64_t ordinal_ = 0;  // 0: not closed yet.
  CUevent event_ = nullptr;
  Mark* next_spare_ = nullptr;  // Of the stream's.

  Possessions possessions_;
  std::atomic<bool> may_fail_{false};  // False: the outcome is ok unless the device is lost, and no lock is needed.
  mutable std::mutex mutex_;           // Of a closed mark: guards possessions_ too.
  Status failure_;                     // Guarded by mutex_.
};

}  // namespace baton::hal::drivers::cuda
