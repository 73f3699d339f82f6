// hal.command_buffer.*: one function for each command of hal/commands. Arguments are gathered on the stack and checked
// by the validating layer; what a program records is never taken on trust.

#include "base/bytes.hpp"
#include "hal/commands/all.hpp"
#include "modules/hal_module/exports.hpp"
#include "modules/hal_module/stack_list.hpp"

namespace baton::modules::exports::command_buffer {
namespace {

// Above the limits of every device, which the validating layer knows.
constexpr size_t kBindingsMax = 256;

// What a dispatch is launched with, as the HAL wants it.
struct Launch {
  StackList<uint32_t, kBindingsMax> constants;
  StackList<hal::Binding, kBindingsMax> bindings;
  StackList<hal::ConstantSlot, kBindingsMax> slots;

  [[gnu::always_inline]] Status gather(const Variadic<uint32_t>& words, const Variadic<Resource>& resources) {
    if (words.size() > kBindingsMax || resources.size() > kBindingsMax) [[unlikely]] {
      return failure(StatusCode::kInvalidArgument, "A dispatch has ", words.size(), " constants and ", resources.size(),
                     " bindings; at most ", kBindingsMax, " of each are possible.");
    }
    for (uint32_t word : words) constants.push(word);
    for (const Resource& resource : resources) {
      if (!is_resource(resource)) [[unlikely]]
        return refuse(resource).with_context(text("in binding ", bindings.size(), " of a dispatch"));
      bindings.push(binding_of(resource));
    }
    return {};
  }

  Status gather(const ConstantSlots& pairs) {
    if (pairs.size() > kBindingsMax) {
      return failure(StatusCode::kInvalidArgument, "A dispatch has ", pairs.size(), " constant slots; at most ",
                     kBindingsMax, " are possible.");
    }
    for (const auto [constant, slot] : pairs) slots.push({constant, slot});
    return {};
  }
};

}  // namespace

Result<sdk::Ref<Handle<Commands>>> create(hal::Device& device, std::string_view name, uint32_t slot_count,
                                          uint32_t constant_slot_count) {
  BATON_TRY_ASSIGN(auto commands, device.make_command_buffer({.name = name.empty() ? "unnamed" : name,
                                                              .slot_count = slot_count,
                                                              .constant_slot_count = constant_slot_count}));
  return sdk::make<Handle<Commands>>(std::move(commands), device);
}

Status fill_buffer(Commands& commands, Resource target, int64_t pattern, uint32_t pattern_length) {
  hal::commands::FillBuffer command{.pattern = static_cast<uint64_t>(pattern), .pattern_bytes = pattern_length};
  BATON_TRY_CONTEXT(to_binding(target, command.target), "in the target of a fill");
  return commands.fill_buffer(command);
}

// The target says how much of the blob is meant.
Status update_buffer(Commands& commands, Bytes source, int64_t source_offset, Resource target) {
  hal::commands::UpdateBuffer command;
  BATON_TRY_CONTEXT(to_binding(target, command.target), "in the target of an update");
  const uint64_t offset = static_cast<uint64_t>(source_offset);
  const uint64_t length = command.target.is_open() ? 0 : command.target.length;
  if (!range_inside(offset, length, source.size())) {
    return failure(StatusCode::kOutOfRange, "Update source of ", length, " bytes at ", source_offset,
                   " is not inside its blob (", source.size(), " bytes).");
  }
  command.source = source.subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
  return commands.update_buffer(command);
}

Status copy_buffer(Commands& commands, Resource source, Resource target) {
  hal::commands::CopyBuffer command;
  BATON_TRY_CONTEXT(to_binding(source, command.source), "in the source of a copy");
  BATON_TRY_CONTEXT(to_binding(target, command.target), "in the target of a copy");
  return commands.copy_buffer(command);
}

Status dispatch(Commands& commands, hal::Executable& executable, uint32_t entry_point, uint32_t x, uint32_t y,
                uint32_t z, const Variadic<uint32_t>& constants, const Variadic<Resource>& bindings) {
  Launch launch;
  BATON_TRY(launch.gather(constants, bindings));
  return commands.dispatch({.executable = &executable,
                            .entry_point = entry_point,
                            .grid = {x, y, z},
                            .constants = launch.constants.items(),
                            .bindings = launch.bindings.items()});
}

Status dispatch_indirect(Commands& commands, hal::Executable& executable, uint32_t entry_point, Resource grid,
                         const Variadic<uint32_t>& constants, const Variadic<Resource>& bindings) {
  Launch launch;
  hal::Binding grid_binding;
  BATON_TRY_CONTEXT(to_binding(grid, grid_binding), "in the grid of a dispatch");
  BATON_TRY(launch.gather(constants, bindings));
  return commands.dispatch_indirect({.executable = &executable,
                                     .entry_point = entry_point,
                                     .grid = grid_binding,
                                     .constants = launch.constants.items(),
                                     .bindings = launch.bindings.items()});
}

Status dispatch_with_slots(Commands& commands, hal::Executable& executable, uint32_t entry_point, uint32_t x,
                           uint32_t y, uint32_t z, const Variadic<uint32_t>& constants, const ConstantSlots& slots,
                           const Variadic<Resource>& bindings) {
  Launch launch;
  BATON_TRY(launch.gather(constants, bindings));
  BATON_TRY(launch.gather(slots));
  return commands.dispatch({.executable = &executable,
                            .entry_point = entry_point,
                            .grid = {x, y, z},
                            .constants = launch.constants.items(),
                            .constant_slots = launch.slots.items(),
                            .bindings = launch.bindings.items()});
}

Status dispatch_indirect_with_slots(Commands& commands, hal::Executable& executable, uint32_t entry_point,
                                    Resource grid, const Variadic<uint32_t>& constants, const ConstantSlots& slots,
                                    const Variadic<Resource>& bindings) {
  Launch launch;
  hal::Binding grid_binding;
  BATON_TRY_CONTEXT(to_binding(grid, grid_binding), "in the grid of a dispatch");
  BATON_TRY(launch.gather(constants, bindings));
  BATON_TRY(launch.gather(slots));
  return commands.dispatch_indirect({.executable = &executable,
                                     .entry_point = entry_point,
                                     .grid = grid_binding,
                                     .constants = launch.constants.items(),
                                     .constant_slots = launch.slots.items(),
                                     .bindings = launch.bindings.items()});
}

Status barrier(Commands& commands) { return commands.barrier({}); }

Result<Ref<hal::Recording>> finish(Commands& commands) { return commands.finish(); }

}  // namespace baton::modules::exports::command_buffer
