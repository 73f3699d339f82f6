// The laws that several commands share. Only validate() functions call them, on the way into a recording.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.hpp"
#include "base/status.hpp"
#include "hal/binding.hpp"
#include "hal/commands/fields.hpp"
#include "hal/device_limits.hpp"
#include "hal/executable.hpp"

namespace baton::hal {

class Allocator;

// What a command is validated against: the device and the shape of the recording.
struct RecordingScope {
  const void* device;
  const Allocator* allocator;
  const DeviceLimits& limits;
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
// The questions of check_launch() and check_grid() without their sentences: 110 instructions with two bindings, not
// 180. Nearly every launch passes; one that does not is asked again by those two, which may still find nothing wrong.
template <typename Launch>
bool is_plain_launch(const RecordingScope& scope, const Launch& launch);

// Everything about a dispatch but its grid.
Status check_launch(const RecordingScope& scope, const LaunchShape& launch);

// The grid of one whose launches want more than a grid (LaunchAttributes).
Status check_grid(const EntryPoint& entry, const uint32_t (&grid)[3]);

Status check_constant_slots(const RecordingScope& scope, size_t constant_count, std::span<const ConstantSlot> slots);

// The same of a binding: check_binding() has the sentences.
inline bool is_plain_binding(const RecordingScope& scope, const Binding& binding, BufferUsage usage) {
  const Buffer* buffer = binding.buffer;
  if (!buffer) {
    return binding.slot < scope.slot_count &&
           (binding.length == kWholeLength || binding.offset <= kWholeLength - binding.length);
  }
  return !buffer->freed() && buffer->allocator() == scope.allocator &&
         range_inside(binding.offset, binding.length, buffer->length()) && has_all(buffer->usage(), usage);
}

template <typename Launch>
bool is_plain_launch(const RecordingScope& scope, const Launch& launch) {
  const Executable* executable = launch.executable;
  if (!executable || executable->device() != scope.device) return false;
  const auto entry_points = executable->entry_points();
  if (launch.entry_point >= entry_points.size() || !launch.constant_slots.empty()) return false;
  const EntryPoint& entry = entry_points[launch.entry_point];
  const size_t constants = launch.constants.size();
  const size_t bindings = launch.bindings.size();
  if (entry.layout_known && (constants != entry.constant_count || bindings != entry.binding_count)) return false;
  if (constants > scope.limits.constants_max || bindings > scope.limits.bindings_max) return false;
  if (entry.launch.has_cluster() || entry.workgroups_max != 0) return false;
  for (const Binding& binding : launch.bindings) {
    if (!is_plain_binding(scope, binding, usage_of(binding, BufferUsage::kDispatch))) return false;
  }
  return true;
}

}  // namespace baton::hal
