// Queue::Operation: an operation that could not be enqueued inside its call. Waits until its waits are promised (or,
// for work of the host, reached), is enqueued by whoever promised the last, and goes.
//
// The semaphores it waits for are not retained: when nobody else holds one, nobody can signal it, and its destructor
// fails the wait.
#pragma once

#include "hal/device.hpp"
#include "hal/drivers/cuda/queue.hpp"

namespace baton::hal::drivers::cuda {

class Queue::Operation : public Worker::Task {
 public:
  // The operation owns itself from here on.
  void start(const Order& order);
  void run() final;

 protected:
  enum class On { kAnyThread, kWorker };
  enum class Wants { kPromised, kReached };
  Operation(Queue& queue, On on, Wants wants) : queue_(queue), device_(&queue.device()), on_(on), wants_(wants) {}
  virtual void perform(Marks marks, Signals signals) = 0;

  Queue& queue_;

 private:
  struct Wait final : SemaphoreWaiter, ScheduleWaiter {
    void reached(const Status& status) override { operation->wait_over(status, nullptr); }
    void scheduled(const Status& status, Ref<Mark> mark) override { operation->wait_over(status, std::move(mark)); }
    Operation* operation = nullptr;
  };

  void wait_over(const Status& status, Ref<Mark> mark);
  void one_wait_less();
  void finish();

  Ref<hal::Device> device_;
  const On on_;
  const Wants wants_;
  std::vector<SemaphorePoint> signals_;
  std::vector<Ref<hal::Semaphore>> retained_;
  std::unique_ptr<Wait[]> waits_;
  std::mutex marks_mutex_;
  std::vector<Ref<Mark>> marks_;  // Guarded by marks_mutex_ until the last wait is over.
  std::atomic<size_t> pending_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace baton::hal::drivers::cuda
