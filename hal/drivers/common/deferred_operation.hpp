// DeferredOperation: an operation of a queue that could not run inside the call that submitted it.
//
//   start → it listens to its waits → each wait is over → the last one makes it ready → perform, on whichever thread
//         → its signals are concluded → it leaves the ledger and deletes itself
//
// A driver overrides how it listens, which thread runs it once it is ready, and what it does. The operation keeps its
// device and the semaphores that it signals. It does not keep those that it waits for: when the last holder of one lets
// go, nothing can signal it any more, and its destructor fails the wait.
// Threads: waits may be over on any threads at the same time; then one thread runs it.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "hal/device.hpp"
#include "hal/drivers/common/kept_signals.hpp"
#include "hal/drivers/common/operation_ledger.hpp"
#include "hal/drivers/common/task.hpp"
#include "hal/queue.hpp"

namespace baton::hal {

class DeferredOperation : public Task {
 public:
  // The operation owns itself from here on.
  void start(const Order& order);
  void run() final;

 protected:
  using Waits = std::span<const SemaphorePoint>;
  using Signals = std::span<const SemaphorePoint>;

  DeferredOperation(Device& device, OperationLedger& ledger) : ledger_(ledger), device_(&device) {}

  // Has wait_over() called once for each of `waits`, when it is reached or has failed.
  virtual void listen(Waits waits);
  void wait_over(const Status& status);
  // All waits are over: has run() called, here and now or on another thread.
  virtual void ready() { run_in_turn(*this); }
  // Does the work, and concludes `signals` or has them concluded when the device is through.
  virtual void perform(Signals signals) = 0;

  Signals signals() const { return signals_.points(); }

  OperationLedger& ledger_;

 private:
  struct Wait final : SemaphoreWaiter {
    void reached(const Status& status) override { operation->wait_over(status); }
    DeferredOperation* operation = nullptr;
  };

  void one_wait_less();
  void finish();

  const Ref<Device> device_;
  KeptSignals signals_;
  std::unique_ptr<Wait[]> waits_;
  std::atomic<size_t> pending_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace baton::hal
