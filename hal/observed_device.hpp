// observe: wraps a device. The wrapper passes each call on and tells an observer, which may answer in the device's place.
//
//   app, programs ─▶ observed device ─▶ the driver's device
//                        │ recorded, execute, loaded, ...
//                        ▼
//                     DeviceObserver          traces (timeline_observer.hpp), records for replay (replay/)
//
// Drivers have no hooks for this, so a device without an observer pays nothing. Buffers, semaphores and executables are
// the driver's own; recordings remember their commands beside the driver's recording. What a custom command enqueues with
// the driver's own interface (extension()) is in the driver's recording alone.
// Threads: as Device; observers are told on the thread that does it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hal/device.hpp"
#include "hal/drivers/common/command_list.hpp"
#include "hal/queue.hpp"
#include "hal/work_label.hpp"

namespace baton::hal {

class ObservedRecording;

// A command as it is recorded.
struct CommandNotice {
  const Recording& recording;
  uint32_t index;
  CommandKind kind;
  const void* command;        // Of the type that `kind` says.
  const std::string& custom;  // "blas.saxpy": the custom command that records it; empty: none.
};

class DeviceObserver {
 public:
  virtual ~DeviceObserver() = default;

  // What the driver shall know the command by (work_label.hpp).
  virtual const WorkLabel* recording(const CommandNotice&) { return nullptr; }
  virtual const WorkLabel* recording_custom(const Recording&, const std::string& /*custom*/) { return nullptr; }
  virtual const WorkLabel* recording_begins(const Recording&) { return nullptr; }
  virtual void loaded(const ExecutableRequest&, const Executable&) {}
  // Each hands on what it is given, unless the observer knows better.
  virtual Status execute(Queue& queue, const Order& order, ObservedRecording& recording, const BindingTable& table);

  // Brackets around what else a queue and a device are asked for: "allocate", "free", "host_call", "barrier", "load".
  virtual int64_t begin(std::string_view /*operation*/) { return 0; }
  virtual void end(std::string_view /*operation*/, int64_t /*begun*/) {}
};

// The commands, and the driver's recording of them.
class ObservedRecording final : public CommandList {
 public:
  ObservedRecording(Device& device, const RecordingOptions& options) : CommandList(device, options) {}

  Recording& driven() const { return *driven_; }
  // What the observer calls the recording, and its commands by index.
  const WorkLabel* label() const { return label_; }
  std::span<const WorkLabel* const> command_labels() const { return command_labels_; }
  // Whether the driver's own interface added work that no command stands for.
  bool opaque() const { return opaque_; }

 private:
  friend class ObservedCommandBuffer;
  Ref<Recording> driven_;
  const WorkLabel* label_ = nullptr;
  std::vector<const WorkLabel*> command_labels_;
  bool opaque_ = false;
};

// `device` as the observer sees it. Both live as long as the device that is returned.
Ref<Device> observe(Ref<Device> device, std::shared_ptr<DeviceObserver> observer);

}  // namespace baton::hal
