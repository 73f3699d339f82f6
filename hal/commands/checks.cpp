#include "hal/commands/checks.hpp"

namespace baton::hal {
namespace {

Status beyond_limit(std::string_view what, uint64_t count, uint64_t limit) {
  return failure(StatusCode::kInvalidArgument, what, " (", count, ") exceeds the limit of the device (", limit, ").");
}

Status wrong_count(std::string_view what, const EntryPoint& entry, size_t given, uint32_t wanted) {
  return failure(StatusCode::kInvalidArgument, "Entry point '", entry.name, "' takes ", wanted, " ", what, "; ", given,
                 " given.");
}

Status check_slot_binding(const RecordingScope& scope, std::string_view noun, const Binding& binding) {
  if (binding.slot >= scope.slot_count) {
    return failure(StatusCode::kOutOfRange, noun, " names slot ", binding.slot, "; the recording has ",
                   scope.slot_count, " slots.");
  }
  if (binding.length != kWholeLength && binding.offset + binding.length < binding.offset) {
    return failure(StatusCode::kOutOfRange, noun, " has offset ", binding.offset, " and length ", binding.length,
                   ", which together exceed 64 bits.");
  }
  return {};
}

Status check_buffer_binding(const RecordingScope& scope, std::string_view noun, const Binding& binding,
                            BufferUsage usage) {
  const Buffer& buffer = *binding.buffer;
  if (buffer.freed()) return failure(StatusCode::kFailedPrecondition, noun, " is a buffer that was freed.");
  if (buffer.allocator() != scope.allocator) {
    return failure(StatusCode::kInvalidArgument, noun, " is a buffer of another device, in the memory of ",
                   location_name(buffer.location()), ".");
  }
  if (!range_inside(binding.offset, binding.length, buffer.length())) {
    return failure(StatusCode::kOutOfRange, noun, " [", binding.offset, ", ", binding.offset + binding.length,
                   ") ends beyond the buffer length (", buffer.length(), ").");
  }
  if (!has_all(buffer.usage(), usage)) {
    return failure(StatusCode::kPermissionDenied, noun, " needs usage ", usage_names(usage), "; the buffer has ",
                   usage_names(buffer.usage()), ".");
  }
  return {};
}

// What the entry point takes, where its format tells, and what the device takes in any case.
Status check_layout(const DeviceLimits& limits, const EntryPoint& entry, const LaunchShape& launch) {
  if (entry.layout_known) {
    if (launch.constants.size() != entry.constant_count) {
      return wrong_count("constants", entry, launch.constants.size(), entry.constant_count);
    }
    if (launch.bindings.size() != entry.binding_count) {
      return wrong_count("bindings", entry, launch.bindings.size(), entry.binding_count);
    }
  }
  if (launch.constants.size() > limits.constants_max) {
    return beyond_limit("The number of constants", launch.constants.size(), limits.constants_max);
  }
  if (launch.bindings.size() > limits.bindings_max) {
    return beyond_limit("The number of bindings", launch.bindings.size(), limits.bindings_max);
  }
  return {};
}

}  // namespace

Status check_binding(const RecordingScope& scope, std::string_view noun, const Binding& binding, BufferUsage usage) {
  return binding.is_slot() ? check_slot_binding(scope, noun, binding)
                           : check_buffer_binding(scope, noun, binding, usage);
}

Status check_transfer(const RecordingScope& scope, std::string_view noun, const Binding& binding, BufferUsage usage) {
  if (binding.is_open()) {
    return failure(StatusCode::kInvalidArgument, noun, " in slot ", binding.slot,
                   " has no length; a transfer needs it when it is recorded.");
  }
  return check_binding(scope, noun, binding, usage);
}

Status check_alignment(std::string_view noun, uint64_t offset, uint64_t alignment) {
  if (offset % alignment == 0) return {};
  return failure(StatusCode::kInvalidArgument, noun, " (", offset, ") is not a multiple of ", alignment, ".");
}

bool overlaps(const Binding& a, const Binding& b) {
  if (a.is_slot() != b.is_slot()) return false;
  uint64_t a_start = a.offset, b_start = b.offset;
  if (a.is_slot()) {
    if (a.slot != b.slot) return false;
  } else {
    if (&a.buffer->owner() != &b.buffer->owner()) return false;
    a_start += a.buffer->owner_offset();
    b_start += b.buffer->owner_offset();
  }
  return a_start < b_start + b.length && b_start < a_start + a.length;
}

Status check_constant_slots(const RecordingScope& scope, size_t constant_count, std::span<const ConstantSlot> slots) {
  for (const ConstantSlot& slot : slots) {
    if (slot.constant >= constant_count) {
      return failure(StatusCode::kOutOfRange, "Constant slot ", slot.slot, " fills constant ", slot.constant,
                     "; the command has ", constant_count, " constants.");
    }
    if (slot.slot >= scope.constant_slot_count) {
      return failure(StatusCode::kOutOfRange, "Constant ", slot.constant, " names constant slot ", slot.slot,
                     "; the recording has ", scope.constant_slot_count, " constant slots.");
    }
  }
  return {};
}

Status check_launch(const RecordingScope& scope, const LaunchShape& launch) {
  if (!launch.executable) return failure(StatusCode::kInvalidArgument, "A dispatch needs an executable; it has none.");
  const auto entry_points = launch.executable->entry_points();
  if (launch.executable->device() != scope.device) {
    return failure(StatusCode::kInvalidArgument, "Executable '", launch.executable->name(),
                   "' was loaded for another device.");
  }
  if (launch.entry_point >= entry_points.size()) {
    return failure(StatusCode::kOutOfRange, "Executable '", launch.executable->name(), "' has ", entry_points.size(),
                   " entry points; entry point ", launch.entry_point, " does not exist.");
  }
  const EntryPoint& entry = entry_points[launch.entry_point];
  BATON_TRY(check_layout(scope.limits, entry, launch));
  if (!launch.constant_slots.empty()) {
    BATON_TRY(check_constant_slots(scope, launch.constants.size(), launch.constant_slots));
  }
  for (size_t i = 0; i < launch.bindings.size(); ++i) {
    const BufferUsage usage = usage_of(launch.bindings[i], BufferUsage::kDispatch);
    if (Status status = check_binding(scope, "Dispatch binding", launch.bindings[i], usage); !status.ok()) {
      return std::move(status).with_context(text("in binding ", i, " of entry point '", entry.name, "'"));
    }
  }
  return {};
}

Status check_grid(const EntryPoint& entry, const uint32_t (&grid)[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t cluster = entry.launch.cluster_size[axis];
    if (cluster <= 1 || grid[axis] % cluster == 0) continue;
    return failure(StatusCode::kInvalidArgument, "Entry point '", entry.name, "' runs in clusters of ", cluster,
                   " workgroups in ", "xyz"[axis], "; a grid of ", grid[axis], " is no multiple of it.");
  }
  const uint64_t workgroups = uint64_t{grid[0]} * grid[1] * grid[2];
  if (entry.workgroups_max == 0 || workgroups <= entry.workgroups_max) return {};
  return failure(StatusCode::kOutOfRange, "All workgroups of entry point '", entry.name, "' run at the same time; the ",
                 "grid has ", workgroups, ", and the device takes ", entry.workgroups_max, ".");
}

}  // namespace baton::hal
