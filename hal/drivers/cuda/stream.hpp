// Stream: a CUDA stream of a queue, what is in flight on it, and how far the device has come.
//
// A thread that enqueues locks the stream, enqueues, and closes a mark. Ordinals of marks rise, so one event that has
// passed says that all before it have: completed_ rises and the other events are never asked.
// Threads: internally synchronized where not said otherwise; the functions that say so need mutex() held.
#pragma once

#include <array>

#include "hal/drivers/cuda/mark.hpp"
#include "hal/drivers/cuda/primary_context.hpp"
#include "hal/drivers/cuda/ring.hpp"

namespace baton::hal::drivers::cuda {

// What every submission touches stands first, in as few cache lines as it fits.
class alignas(64) Stream final : public RefCounted<Stream> {
 public:
  static Result<Ref<Stream>> make(Ref<PrimaryContext> context);
  ~Stream();

  CUstream handle() const { return handle_; }
  PrimaryContext& context() const { return *context_; }
  std::mutex& mutex() { return mutex_; }

  // What is enqueued from here on is before this mark. The mutex is held.
  Mark& open();
  // Records the event: the mark can be waited for. The mutex is held.
  Result<Ref<Mark>> close();
  // Makes the device wait here until it has come by `mark` on its own stream. The mutex is held.
  Status wait(Mark& mark);
  // The mark behind all that was enqueued so far; null when that is known to be done. The mutex is held.
  Result<Ref<Mark>> last();
  // Makes a stream of another library wait for `mark`; a context is current.
  static Status hold(CUstream stream, Mark& mark);

  bool reached(uint64_t ordinal) const { return completed_.load(std::memory_order_acquire) >= ordinal; }
  // How far the device was seen.
  uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  // Lets go of what marks kept that are done; asks the device when `ask`. Returns how many marks are still in flight.
  size_t reap(bool ask);
  // Until others that reap have let go of what they took; not for ever, because what is let go of may wait for this
  // thread.
  void wait_for_reapers(int64_t limit_ns = 20'000'000) const;
  // Closes what is open, and waits until the device is through.
  Status drain();
  // Marks that were closed since the last call and may fail without a semaphore that hears of it.
  std::vector<Ref<Mark>> take_unheard();
  // The same as drain(), not longer than `timeout_ns`; false when it was not enough.
  Result<bool> drain_within(int64_t timeout_ns);
  size_t in_flight();
  // Lets go of the tables that were bound last.
  void drop_bound_tables();
  void drop_bound_table(const std::shared_ptr<BoundTable>& table);

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  friend class Mark;
  Stream(Ref<PrimaryContext> context, CUstream handle) : context_(std::move(context)), handle_(handle) {}

  bool ask(const Mark& mark);
  // Marks that are done, some at a time.
  struct Done {
    static constexpr size_t kMax = 16;
    Ref<Mark> marks[kMax];
    size_t count = 0;
    size_t in_flight = 0;  // Of those that are left.
  };
  void take_done(bool ask_device, Done& done);
  void take_back(Mark* mark);
  void watch_channels(const Ref<Mark>& closed);
  Mark* take_spare();
  void linger(std::shared_ptr<BoundTable>& table);

  const Ref<PrimaryContext> context_;
  const CUstream handle_;
  std::mutex mutex_;
  Ref<Mark> open_;                        // Guarded by mutex_.
  Mark* spare_ = nullptr;                 // Guarded by mutex_; a list.
  std::atomic<Mark*> returned_{nullptr};  // Spares of any thread, until spare_ is used up.
  std::atomic<uint64_t> completed_{0};
  uint64_t last_ordinal_ = 0;       // Guarded by mutex_.
  Ring<Ref<Mark>> in_flight_;       // Guarded by mutex_; closed marks, oldest first.
  std::vector<Ref<Mark>> unheard_;  // Guarded by mutex_.
  static constexpr size_t kUnheardMax = 64;
  size_t unheard_max_ = kUnheardMax;  // Guarded by mutex_: of so many, those that are done and well go.

  std::atomic<uint32_t> reapers_{0};  // That have taken marks and not let go of them; raised under mutex_.

  static constexpr size_t kBoundTables = 8;
  std::mutex bound_mutex_;
  std::array<std::shared_ptr<BoundTable>, kBoundTables> bound_;  // Guarded by bound_mutex_: of work that is done.
  size_t next_bound_ = 0;                                        // Guarded by bound_mutex_.
};

}  // namespace baton::hal::drivers::cuda
