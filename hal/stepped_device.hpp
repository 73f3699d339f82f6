// step: a device whose recordings run command by command, each to its end, so that its caller can read what each command
// wrote. It is slow, and made for debugging: --record= and baton-replay use it.
//
// A command runs as a recording of its own with the table of the execution. What a custom command enqueued with the driver's
// own interface (extension()) is in the driver's recording alone: such a recording runs as a whole, and is one step.
// Threads: executions run one at a time, on the thread that submits them.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "hal/observed_device.hpp"

namespace baton::hal {

// One command, or a recording that runs as a whole.
struct Step {
  uint64_t number;   // Of all steps of the device, in the order of execution.
  std::string verb;  // "dispatch"; "recording" for one as a whole.
  std::string name;  // Its kernel or function.
  std::string recording;
  std::string custom;               // "blas.saxpy", or empty.
  std::vector<BufferRange> writes;  // What it may write, in the order of its bindings.

  // "3 dispatch 'scale' of blas.saxpy in recording "main"".
  std::string describe() const;
};

class StepListener {
 public:
  virtual ~StepListener() = default;
  // Called when the step is done, with its status; the listener can read what the step wrote. The status that it
  // returns replaces the step's.
  virtual Status stepped(Device& device, const Step& step, Status status) = 0;

  // Work that runs without a listener runs as a whole and is no step: copies of inputs and results, which only some
  // devices need.
  void listen(bool on) { listening_.store(on, std::memory_order_relaxed); }
  bool listens() const { return listening_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> listening_{true};
};

// `device`, stepped. The listener lives as long as the device that is returned.
Ref<Device> step(Ref<Device> device, std::shared_ptr<StepListener> listener);

}  // namespace baton::hal
