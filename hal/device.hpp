// Device: makes buffers, executables, command buffers and semaphores; owns its queue and its allocator.
//
// The public face checks and layers; drivers implement the virtual `do_…` behind it.
// Threads: internally synchronized.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/arena.hpp"
#include "base/ref.hpp"
#include "base/result.hpp"
#include "hal/channel.hpp"
#include "hal/command_buffer.hpp"
#include "hal/device_limits.hpp"
#include "hal/executable.hpp"
#include "hal/semaphore.hpp"

namespace baton::hal {

class Allocator;
class ExecutableRegistry;
class Queue;

// How well a device can run code of some format.
struct FormatMatch {
  int32_t rank = -1;   // The highest wins; negative: not at all.
  std::string reason;  // Why not, or what it is taken as.
};

class Device : public RefCounted<Device> {
 public:
  virtual ~Device() = default;

  // "local-sync", "cuda://0".
  const std::string& name() const { return name_; }
  const DeviceLimits& limits() const { return limits_; }

  virtual Allocator& allocator() = 0;
  virtual Queue& queue() = 0;

  Result<std::unique_ptr<CommandBuffer>> make_command_buffer(const RecordingOptions& options = {});
  // Loads the most specific variant that the device accepts; when none fits, says for each why not.
  Result<Ref<Executable>> make_executable(const ExecutableRequest& request);
  virtual Result<Ref<Semaphore>> make_semaphore(uint64_t initial_value = 0) = 0;
  // Returns when all ranks have met. UNIMPLEMENTED where the device has no peers.
  Result<Ref<Channel>> make_channel(const ChannelRequest& request);
  virtual FormatMatch match_format(std::string_view format) const = 0;
  // Facts that programs ask for by category and key ("hal.dispatch", "concurrency"); NOT_FOUND for unknown ones.
  virtual Result<int64_t> query(std::string_view category, std::string_view key) const;

  // The code that the app brings for this device, by name; null while it brings none. Set before programs run.
  void set_executables(std::shared_ptr<const ExecutableRegistry> executables) { executables_ = std::move(executables); }
  const ExecutableRegistry* executables() const { return executables_.get(); }

  // Blocks that recordings live in.
  BlockPool& block_pool() { return block_pool_; }

 protected:
  Device(std::string_view name, const DeviceLimits& limits) : name_(name), limits_(limits) {}

 private:
  friend class ObservedDevice;  // Hands on what its own face has looked at.

  // With the validating layer around it as the options say: make_commands() of validating_command_buffer.hpp.
  virtual std::unique_ptr<CommandBuffer> do_make_command_buffer(const RecordingOptions& options) = 0;
  // Of several ranks. The default has no peers.
  virtual Result<Ref<Channel>> do_make_channel(const ChannelRequest& request);
  virtual Result<Ref<Executable>> do_make_executable(const ExecutableRequest& request,
                                                     const ExecutableVariant& variant) = 0;

  std::string name_;
  DeviceLimits limits_;
  BlockPool block_pool_;
  std::shared_ptr<const ExecutableRegistry> executables_;
};

}  // namespace baton::hal
