// Queue::Operation: a deferred operation of a CUDA queue. It waits until its waits are promised (or, for work of the
// host, reached), and is enqueued by the thread that promises the last one.
#pragma once

#include "hal/drivers/common/deferred_operation.hpp"
#include "hal/drivers/cuda/queue.hpp"

namespace baton::hal::drivers::cuda {

class Queue::Operation : public DeferredOperation {
 protected:
  enum class On { kAnyThread, kWorker };
  enum class Wants { kPromised, kReached };
  Operation(Queue& queue, On on, Wants wants)
      : DeferredOperation(queue.device(), queue.ledger_), queue_(queue), on_(on), wants_(wants) {}
  // Enqueues the work behind `marks`, or does it.
  virtual void enqueue(Marks marks, Signals signals) = 0;

  Queue& queue_;

 private:
  struct Wait final : SemaphoreWaiter, ScheduleWaiter {
    void reached(const Status& status) override { operation->wait_over(status); }
    void scheduled(const Status& status, Ref<Mark> mark) override { operation->promised(status, std::move(mark)); }
    Operation* operation = nullptr;
  };

  void listen(Waits waits) final;
  void promised(const Status& status, Ref<Mark> mark);
  void ready() final;
  void perform(Signals signals) final { enqueue(marks_, signals); }

  const On on_;
  const Wants wants_;
  std::unique_ptr<Wait[]> waits_;
  std::mutex marks_mutex_;
  std::vector<Ref<Mark>> marks_;  // Guarded by marks_mutex_ until the last wait is over.
};

}  // namespace baton::hal::drivers::cuda
