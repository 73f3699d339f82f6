// NcclWatch: looks after a communicator while collectives are under way. NCCL waits for ever for a rank that is gone, and what it
// finds out itself it tells only those who ask: the watch asks, while the device works, and after a time it asks no more.
// Either ends the communicator: its kernels on the device return, and everything that was executed with it fails with
// one status.
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "hal/drivers/cuda/mark.hpp"
#include "hal/drivers/cuda/nccl.hpp"
#include "hal/drivers/cuda/peer_reduction.hpp"
#include "hal/drivers/cuda/primary_context.hpp"
#include "hal/drivers/cuda/worker.hpp"

namespace baton::hal::drivers::cuda {

class NcclWatch final : public Worker::Guard {
 public:
  // `description` names the channel and its rank. The communicator is the watch's from here on.
  NcclWatch(std::string description, int64_t timeout_ns, Ref<PrimaryContext> context, std::shared_ptr<const Nccl> nccl,
            NcclComm comm)
      : description_(std::move(description)),
        timeout_(timeout_ns),
        context_(std::move(context)),
        nccl_(std::move(nccl)),
        comm_(comm) {}
  ~NcclWatch() override { close(); }

  // Executions with collectives of the channel end there (Mark::meetings).
  void begin(Ref<Mark> mark);
  // Ok, or why the communicator was ended. Asks NCCL.
  Status check();
  // The same, without asking: what is not known yet is found out while the work is under way.
  Status known() {
    if (!has_ended_.load(std::memory_order_acquire)) [[likely]]
      return {};
    return check();
  }
  void look() override;
  // Whose kernels return when the communicator's do. Told before work is under way.
  void end_also(std::shared_ptr<PeerReduction> peers) { peers_ = std::move(peers); }
  // Ends it because the time is over, and says so.
  Status give_up();
  // The channel goes.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  Status check_locked();
  void end(Status reason);
  Status too_late(uint32_t executions) const;

  const std::string description_;
  const std::chrono::nanoseconds timeout_;
  const Ref<PrimaryContext> context_;
  const std::shared_ptr<const Nccl> nccl_;
  const NcclComm comm_;
  std::shared_ptr<PeerReduction> peers_;  // Null: none.

  std::mutex mutex_;
  // Collectives of one channel follow each other: of all that are under way one that is looked at, and the last.
  Ref<Mark> current_;                   // Guarded by mutex_.
  Ref<Mark> last_;                      // Guarded by mutex_.
  uint64_t completed_ = 0;              // Guarded by mutex_: how far the stream of current_ was.
  Clock::time_point since_{};           // Guarded by mutex_: since when it is there.
  Status failure_;                      // Guarded by mutex_.
  bool is_closed_ = false;              // Guarded by mutex_.
  std::atomic<bool> has_ended_{false};  // There is a failure_.
  std::thread abort_;                   // Guarded by mutex_. NCCL waits in it for graphs with its kernels to go.
};

}  // namespace baton::hal::drivers::cuda
