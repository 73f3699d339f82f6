// The laws that several commands share. Only validate() functions call them, on the way into a recording.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.hpp"
#include "hal/binding.hpp"
#include "hal/device_limits.hpp"
#include "hal/executable.hpp"

namespace baton::hal {

class Allocator;

// What a command is validated against: the device and the shape of the recording.
struct RecordingScope {
  const void* device;
  const Allocator* allocator;
  DeviceLimits limits;
  uint32_t slot_count;
  uint32_t constant_slot_count;
};

// A binding is inside its buffer (or its slot inside the table) and the buffer allows `usage`.
// `noun` begins the sentence: "Copy target".
Status check_binding(const RecordingScope& scope, std::string_view noun, const Binding& binding, BufferUsage usage);
// The same for transfers, which must know their length when they are recorded.
Status check_transfer(const RecordingScope& scope, std::string_view noun, const Binding& binding, BufferUsage usage);
Status check_alignment(std::string_view noun, uint64_t offset, uint64_t alignment);
// True when both lie in the same memory (or the same slot) and share a byte.
bool overlaps(const Binding& a, const Binding& b);

struct LaunchShape {
  const Executable* executable;
  uint32_t entry_point;
  std::span<const uint32_t> constants;
  std::span<const ConstantSlot> constant_slots;
  std::span<const Binding> bindings;
};
// Everything about a dispatch but its grid.
Status check_launch(const RecordingScope& scope, const LaunchShape& launch);

// The grid of one whose launches want more than a grid (LaunchAttributes).
Status check_grid(const EntryPoint& entry, const uint32_t (&grid)[3]);

Status check_constant_slots(const RecordingScope& scope, size_t constant_count, std::span<const ConstantSlot> slots);

}  // namespace baton::hal
