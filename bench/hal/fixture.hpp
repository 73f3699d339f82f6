// What the HAL benches share: a device with empty kernels, a few buffers, and recordings of them. Kernels do nothing,
// so that what is timed is Baton's own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/device.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"

namespace baton {
class Timeline;
}

namespace baton::bench {

[[noreturn]] void give_up(const Status& status);

// A call that must not fail.
template <typename T>
T expect(Result<T> result) {
  if (!result.has_value()) give_up(result.error());
  return std::move(result).value();
}
inline void expect(const Status& status) {
  if (!status.ok()) give_up(status);
}

enum EntryPoint : uint32_t { kDoNothing, kSquare };

struct Fixture {
  // With `timeline` the device tells what it does.
  explicit Fixture(std::string_view device_uri, Timeline* timeline = nullptr);

  void record_dispatch(hal::CommandBuffer& commands, std::span<const hal::Binding> bindings,
                       uint32_t workgroups = 1) const;

  // `count` pairs of dispatch and barrier, recorded and dropped.
  void record_pairs(uint64_t count, bool validate) const;

  // `slots` 0: fixed buffers; else dispatch i reads slot i % slots.
  Ref<hal::Recording> record(uint64_t dispatches, uint32_t slots, uint32_t workgroups = 1) const;

  void execute(hal::Recording& recording, const hal::BindingTable& table = {});
  void execute_and_wait(hal::Recording& recording, const hal::BindingTable& table = {});

  Ref<hal::Device> device;
  Ref<hal::Executable> executable;
  Ref<hal::Buffer> source, target;
  Ref<hal::Semaphore> done;
  uint64_t point = 0;
};

}  // namespace baton::bench
