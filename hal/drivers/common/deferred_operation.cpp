#include "hal/drivers/common/deferred_operation.hpp"

namespace baton::hal {

void DeferredOperation::start(const Order& order) {
  ledger_.enter();
  signals_ = KeptSignals(order.signals);
  pending_ = order.waits.size() + 1;  // One for this function: it must be through before the operation may go.
  listen(order.waits);
  one_wait_less();
}

void DeferredOperation::listen(Waits waits) {
  waits_ = std::make_unique<Wait[]>(waits.size());
  for (size_t i = 0; i < waits.size(); ++i) {
    waits_[i].operation = this;
    waits[i].semaphore->notify(waits[i].value, waits_[i]);
  }
}

// The first failed wait fails the signals at once; the others may never come.
void DeferredOperation::wait_over(const Status& status) {
  if (!status.ok() && !failed_.exchange(true)) ledger_.conclude(signals(), status);
  one_wait_less();
}

void DeferredOperation::one_wait_less() {
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (failed_) return finish();
  ready();
}

void DeferredOperation::run() {
  perform(signals());
  finish();
}

void DeferredOperation::finish() {
  // The device may go with the operation, and the queue and its ledger with the device: so the device goes last.
  const Ref<Device> keep = device_;
  OperationLedger& ledger = ledger_;
  delete this;
  ledger.leave();
}

}  // namespace baton::hal
