// Queue: operations of a device, ordered by semaphores and by nothing else.
//
// An operation begins when all its waits are reached and signals when it is done. Nothing blocks the caller. A
// device without workers does the work before the call returns if the waits are already reached; a device with workers
// does so when handing the work over would take as long as the work. A thread that waits may run queued work meanwhile
// (drivers/common/wait_helper.hpp). Bad arguments are a status here and now, and nothing is enqueued. Work that fails
// later, or a wait that fails, fails all signals with the status; when there is none to carry it, wait_idle() returns
// it.
// Threads: internally synchronized.
#pragma once

#include <span>

#include "hal/binding_table.hpp"
#include "hal/buffer.hpp"
#include "hal/commands/command_kind.hpp"
#include "hal/semaphore.hpp"

namespace baton::hal {

class Device;
class File;
class HostFunction;
class Recording;
struct AllocationRequest;

struct Order {
  std::span<const SemaphorePoint> waits = {};
  std::span<const SemaphorePoint> signals = {};
};

// How long executions took on the device: of each, from when the device came to it, with all it waited for behind it,
// until it was through. What it waits for the host meanwhile is in it; executions that overlap count each for itself.
struct ExecutionTimes {
  uint64_t executions = 0;
  int64_t total_ns = 0;
};

class Queue {
 public:
  virtual ~Queue() = default;

  // Runs the commands of `recording` with what `table` puts into its slots. Both stay alive until the work is done.
  Status execute(const Order& order, Recording& recording, const BindingTable& table = {});

  // Single commands without a recording of one's own.
  Status fill_buffer(const Order& order, const commands::FillBuffer& command);
  Status update_buffer(const Order& order, const commands::UpdateBuffer& command);
  Status copy_buffer(const Order& order, const commands::CopyBuffer& command);

  // The buffer exists at once; its memory may be used from the signals on.
  Result<Ref<Buffer>> allocate(const Order& order, const AllocationRequest& request);
  // Work submitted from here on may not name the buffer any more; its memory goes back once the waits are reached.
  Status free(const Order& order, Buffer& buffer);

  // The file stays open until the work is done.
  Status read_file(const Order& order, File& source, uint64_t source_offset, const BufferRange& target);
  Status write_file(const Order& order, const BufferRange& source, File& target, uint64_t target_offset);

  Status host_call(const Order& order, HostFunction& function);
  // Nothing but the order: signals once all waits are reached.
  Status barrier(const Order& order);

  // The order with libraries of this process that have streams of their own. A stream is named by its handle; of
  // CUDA's, 1 is the legacy default stream and 2 the thread's own, as in DLPack; 0 may be either and is refused.
  // UNIMPLEMENTED where the device has no streams. What is submitted from here on, and what is mapped, begins when the
  // work that is on `stream` now is done.
  Status wait_for_stream(uint64_t stream);
  // What others put on `stream` from here on begins when `points` are reached, or, without any, when all is done that
  // the queue was given so far. The operations that signal them must be submitted already. The stream goes on
  // when they fail, too.
  Status hold_stream(uint64_t stream, std::span<const SemaphorePoint> points = {});

  // Whether executions that are submitted from here on are timed; at first they are not, and it costs nothing.
  // UNIMPLEMENTED where the device has no clock.
  virtual Status time_executions(bool on);
  // Of those that are done, since this was asked last.
  virtual ExecutionTimes take_execution_times() { return {}; }

  // Waits until no operation is in flight and what they kept is released, except tables, which may stay some
  // milliseconds to be compared with the next one. Returns the first failure since the last call that no semaphore
  // carried.
  virtual Status wait_idle(int64_t timeout_ns = kWaitForever) = 0;

 protected:
  explicit Queue(Device& device) : device_(device) {}
  Device& device() const { return device_; }

  // Whether the table of an execution fits, before anything is enqueued. A driver that overrides this checks in
  // do_execute, with what it knows of the last table.
  virtual Status check_table(const Recording& recording, const BindingTable& table) const;
  static Status named(Status status, const Recording& recording);

 private:
  friend class ObservedQueue;  // Hands on what its own front has looked at.

  template <typename Command>
  Status execute_command(const Order& order, const Command& command,
                         Status (*record)(class CommandBuffer&, const Command&));

  virtual Status do_execute(const Order& order, Recording& recording, const BindingTable& table) = 0;
  virtual Result<Ref<Buffer>> do_allocate(const Order& order, const AllocationRequest& request) = 0;
  virtual Status do_free(const Order& order, Buffer& buffer) = 0;
  virtual Status do_host_call(const Order& order, HostFunction& function) = 0;
  virtual Status do_barrier(const Order& order) = 0;
  virtual Status do_wait_for_stream(uint64_t stream);
  virtual Status do_hold_stream(uint64_t stream, std::span<const SemaphorePoint> points);

  Device& device_;  // Owns the queue.
};

}  // namespace baton::hal
