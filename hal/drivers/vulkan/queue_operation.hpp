// Queue::Operation: a deferred operation of a Vulkan queue. The thread that signals its last wait runs it, or the
// worker.
#pragma once

#include "hal/drivers/common/deferred_operation.hpp"
#include "hal/drivers/vulkan/queue.hpp"

namespace baton::hal::drivers::vulkan {

class Queue::Operation : public DeferredOperation {
 protected:
  enum class On { kAnyThread, kWorker };
  Operation(Queue& queue, On on) : DeferredOperation(queue.device(), queue.ledger_), queue_(queue), on_(on) {}

  Queue& queue_;

 private:
  void ready() final {
    if (on_ == On::kWorker) return queue_.worker_->post(*this);
    run_in_turn(*this);
  }

  const On on_;
};

}  // namespace baton::hal::drivers::vulkan
