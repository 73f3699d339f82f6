// Queue of the null device: tells what it would have done.
#pragma once

#include "hal/drivers/common/host_queue.hpp"
#include "hal/drivers/null/trace.hpp"

namespace baton::hal::drivers::null {

class Queue final : public HostQueue {
 public:
  Queue(hal::Device& device, TraceOptions options) : HostQueue(device), trace_(std::move(options)) {}

  // Nothing is run, so nothing takes time.
  Status time_executions(bool on) override { return hal::Queue::time_executions(on); }

 private:
  Status run_recording(Recording& recording, const BindingTable& table) override;
  Status call(HostFunction& function) override;

  Trace trace_;
};

}  // namespace baton::hal::drivers::null
