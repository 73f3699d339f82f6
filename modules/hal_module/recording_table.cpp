// baton_recording_table over hal::CommandBuffer: the one translator between the commands of sdk/recording.h and those
// of hal/commands. What a module records goes through the same validation as what a program records.

#include <cstddef>
#include <cstring>

#include "hal/commands/all.hpp"
#include "hal/device_limits.hpp"
#include "modules/door_checks.hpp"
#include "modules/hal_module/custom_command.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/hal_module/resource.hpp"
#include "modules/hal_module/stack_list.hpp"
#include "modules/sdk/recording.h"

namespace baton::modules {
namespace {

using CommandBufferHandle = Handle<hal::CommandBuffer>;

static_assert(static_cast<uint64_t>(hal::CommandTraits::kPure) == BATON_TRAIT_PURE);
static_assert(static_cast<uint64_t>(hal::CommandTraits::kCaptureSafe) == BATON_TRAIT_CAPTURE_SAFE);
static_assert(static_cast<uint64_t>(hal::CommandTraits::kHostOnly) == BATON_TRAIT_HOST_ONLY);
static_assert(static_cast<uint64_t>(hal::CommandTraits::kInPlace) == BATON_TRAIT_IN_PLACE);
static_assert(static_cast<uint64_t>(hal::CommandTraits::kNotCaptured) == BATON_TRAIT_NOT_CAPTURED);
static_assert(static_cast<uint8_t>(hal::Access::kReadWrite) == BATON_ACCESS_READ_WRITE);
static_assert(hal::kWholeLength == BATON_WHOLE_LENGTH && hal::kNoRank == BATON_NO_RANK);
static_assert(static_cast<uint32_t>(hal::CollectiveOperation::kPermute) == BATON_COLLECTIVE_PERMUTE);
static_assert(static_cast<uint32_t>(hal::Reduction::kAverage) == BATON_REDUCTION_AVERAGE);
static_assert(sizeof(hal::ConstantSlot) == sizeof(baton_constant_slot) &&
              offsetof(hal::ConstantSlot, slot) == offsetof(baton_constant_slot, slot));

// ---- What comes in --------------------------------------------------------------------------------------------------

// A command is recorded by the module whose function has the command buffer, while it has it.
Result<hal::CommandBuffer*> opened(baton_command_buffer* commands) {
  auto* handle = sdk::cast<CommandBufferHandle>(reinterpret_cast<baton_object*>(commands));
  if (!handle) [[unlikely]]
    return failure(StatusCode::kInvalidArgument, "A module records into something that is not a command buffer.");
  if (!handle->open()) [[unlikely]] {
    return failure(StatusCode::kFailedPrecondition,
                   "A module records outside of a custom command; a command buffer takes its commands only while the "
                   "command that received it runs.");
  }
  return &**handle;
}

// The command as this version knows it. One from a later version brings more than we look at; none brings less than the
// first version had.
template <typename Command>
Result<const Command*> sized(const Command* given) {
  if (given && given->struct_size >= sizeof(Command)) [[likely]]
    return given;
  return failure(StatusCode::kInvalidArgument, "A module records a command of ", given ? given->struct_size : 0,
                 " bytes; it takes ", sizeof(Command), " or more.");
}
// Whether all is there that it counts.
template <typename Command>
Status check_whole(const Command& command) {
  bool whole = true;
  if constexpr (requires { command.constants; }) {
    whole = !lacks(command.constants, command.constant_count) &&
            !lacks(command.constant_slots, command.constant_slot_count);
  }
  if constexpr (requires { command.source_size; }) whole = !lacks(command.source, command.source_size);
  if constexpr (requires { command.name; }) whole = whole && !lacks(command.name);
  if (whole) [[likely]]
    return {};
  return is_null("table of constants, the source or the name of a command");
}
template <typename Command>
Result<const Command*> known(const Command* given) {
  BATON_TRY_ASSIGN(const Command* command, sized(given));
  BATON_TRY(check_whole(*command));
  return command;
}

Status translate(const baton_binding& given, hal::Binding& binding) {
  auto* object = reinterpret_cast<baton_object*>(given.buffer);
  hal::Buffer* buffer = unwrap<hal::Buffer>(object);
  if (given.access > BATON_ACCESS_READ_WRITE || (object && !buffer)) [[unlikely]] {
    return failure(StatusCode::kInvalidArgument, "A binding has access ", given.access, " to ",
                   buffer || !object ? "memory" : object->type->name,
                   "; it takes 0 to 3 and a 'hal.buffer', or null and a slot.");
  }
  // The rule of resource.hpp: access that is not stated is what the buffer allows.
  const hal::Access access =
      access_of({static_cast<int64_t>(uint64_t{given.access} << hal::kSlotAccessShift), buffer, 0, 0});
  binding = buffer ? hal::Binding(hal::BufferRange(buffer, given.offset, given.length), access)
                   : hal::Binding(hal::Slot{given.slot}, given.offset, given.length, access);
  return {};
}

// The memory that a transfer writes. A binding that the program gave to be read is other commands' at the same time, and what they read
// would depend on their order.
Status translate_target(const baton_binding& given, const char* verb, hal::Binding& binding) {
  if (given.access == BATON_ACCESS_READ) [[unlikely]] {
    return failure(
        StatusCode::kPermissionDenied, "A module would write, by ", verb,
        ", memory that its command was given to read; what a command writes is a result, or an argument that "
        "the program ties to one (-> %x).");
  }
  return translate(given, binding);
}

constexpr size_t kBindingsMax = hal::DeviceLimits{}.bindings_max;
using BindingList = StackList<hal::Binding, kBindingsMax>;

Status translate(const baton_binding* given, uint32_t count, BindingList& bindings) {
  if (count > kBindingsMax || (count && !given)) [[unlikely]] {
    return failure(StatusCode::kInvalidArgument, "A command has ", count, " bindings; ",
                   given ? "the most that are possible are " : "their table is missing, and the most are ",
                   kBindingsMax, ".");
  }
  for (uint32_t i = 0; i < count; ++i) {
    hal::Binding binding;
    if (Status status = translate(given[i], binding); !status.ok()) [[unlikely]]
      return std::move(status).with_context(text("in binding ", i));
    bindings.push(binding);
  }
  return {};
}

std::span<const hal::ConstantSlot> translate(const baton_constant_slot* slots, uint32_t count) {
  return {reinterpret_cast<const hal::ConstantSlot*>(slots), count};
}

hal::Executable* executable_of(baton_executable* executable) {
  return unwrap<hal::Executable>(reinterpret_cast<baton_object*>(executable));
}

// ---- Verbs ----------------------------------------------------------------------------------------------------------

Status fill(baton_command_buffer* commands, const baton_fill_buffer* given) {
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  BATON_TRY_ASSIGN(const baton_fill_buffer* command, known(given));
  hal::commands::FillBuffer fill{.pattern = command->pattern, .pattern_bytes = command->pattern_bytes};
  BATON_TRY(translate_target(command->target, "fill_buffer", fill.target));
  return target->fill_buffer(fill);
}

Status update(baton_command_buffer* commands, const baton_update_buffer* given) {
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  BATON_TRY_ASSIGN(const baton_update_buffer* command, known(given));
  hal::commands::UpdateBuffer update{
      .source = {static_cast<const std::byte*>(command->source), static_cast<size_t>(command->source_size)}};
  BATON_TRY(translate_target(command->target, "update_buffer", update.target));
  return target->update_buffer(update);
}

Status copy(baton_command_buffer* commands, const baton_copy_buffer* given) {
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  BATON_TRY_ASSIGN(const baton_copy_buffer* command, known(given));
  hal::commands::CopyBuffer copy;
  BATON_TRY(translate(command->source, copy.source));
  BATON_TRY(translate_target(command->target, "copy_buffer", copy.target));
  return target->copy_buffer(copy);
}

Status dispatch(baton_command_buffer* commands, const baton_dispatch* given) {
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  BATON_TRY_ASSIGN(const baton_dispatch* command, known(given));
  BindingList bindings;
  BATON_TRY(translate(command->bindings, command->binding_count, bindings));
  return target->dispatch({.executable = executable_of(command->executable),
                           .entry_point = command->entry_point,
                           .grid = {command->grid[0], command->grid[1], command->grid[2]},
                           .constants = {command->constants, command->constant_count},
                           .constant_slots = translate(command->constant_slots, command->constant_slot_count),
                           .bindings = bindings.items()});
}

Status dispatch_indirect(baton_command_buffer* commands, const baton_dispatch_indirect* given) {
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  BATON_TRY_ASSIGN(const baton_dispatch_indirect* command, known(given));
  BindingList bindings;
  BATON_TRY(translate(command->bindings, command->binding_count, bindings));
  hal::Binding grid;
  BATON_TRY_CONTEXT(translate(command->grid, grid), "in the grid of a dispatch");
  return target->dispatch_indirect({.executable = executable_of(command->executable),
                                    .entry_point = command->entry_point,
                                    .grid = grid,
                                    .constants = {command->constants, command->constant_count},
                                    .constant_slots = translate(command->constant_slots, command->constant_slot_count),
                                    .bindings = bindings.items()});
}

Status barrier(baton_command_buffer* commands, const baton_barrier* given) {
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  BATON_TRY_ASSIGN(const baton_barrier* command, known(given));
  BindingList bindings;
  BATON_TRY(translate(command->bindings, command->binding_count, bindings));
  return target->barrier({.bindings = bindings.items()});
}

hal::Channel* channel_of(baton_channel* channel) {
  return unwrap<hal::Channel>(reinterpret_cast<baton_object*>(channel));
}

// Numbers beyond the tables stay beyond them: the validating layer names them.
template <typename Enum>
Enum numbered(uint32_t number) {
  return static_cast<Enum>(number < 255 ? number : 255);
}

Status collective(baton_command_buffer* commands, const baton_collective* given) {
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  BATON_TRY_ASSIGN(const baton_collective* command, known(given));
  hal::commands::Collective collective{.channel = channel_of(command->channel),
                                       .operation = numbered<hal::CollectiveOperation>(command->operation),
                                       .reduction = numbered<hal::Reduction>(command->reduction),
                                       .element_type = static_cast<hal::ElementType>(command->element_type),
                                       .root = command->root,
                                       .to = command->to,
                                       .from = command->from};
  BATON_TRY(translate(command->source, collective.source));
  BATON_TRY(translate_target(command->target, "collective", collective.target));
  return target->collective(collective);
}

uint32_t channel_rank(baton_channel* channel) {
  const hal::Channel* found = channel_of(channel);
  return found ? found->rank() : BATON_NO_RANK;
}
uint32_t channel_count(baton_channel* channel) {
  const hal::Channel* found = channel_of(channel);
  return found ? found->rank_count() : 0;
}

// A function of a module that a recording keeps.
class ModuleFunction final : public hal::HostFunction {
 public:
  ModuleFunction(std::string_view name, const baton_host_call& from)
      : HostFunction(name), call_(from.call), release_(from.release), data_(from.data) {}
  ~ModuleFunction() override {
    if (release_) release_(data_);
  }

  Status call(const hal::HostCallArguments& given) override {
    baton_bytes bindings[kBindingsMax];
    for (size_t i = 0; i < given.bindings.size(); ++i)
      bindings[i] = {given.bindings[i].data(), given.bindings[i].size()};
    const baton_host_arguments arguments = {sizeof(arguments), static_cast<uint32_t>(given.bindings.size()), bindings,
                                            given.constants.data(), given.constants.size()};
    return Status::adopt(reinterpret_cast<Status::Failure*>(call_(data_, &arguments)));
  }

 private:
  baton_status* (*call_)(void* data, const baton_host_arguments* arguments);
  void (*release_)(void* data);
  void* data_;
};

// One that enqueues work of its own.
class ForeignModuleFunction final : public hal::ForeignFunction {
 public:
  ForeignModuleFunction(std::string_view name, const baton_foreign& from, sdk::Ref<Handle<hal::Device>> device)
      : ForeignFunction(name), call_(from.call), release_(from.release), data_(from.data), device_(std::move(device)) {}
  ~ForeignModuleFunction() override {
    if (release_) release_(data_);
  }

  Status record(const hal::ForeignArguments& given) override {
    baton_device_range ranges[kBindingsMax];
    for (size_t i = 0; i < given.bindings.size(); ++i) {
      const hal::ForeignBinding& binding = given.bindings[i];
      ranges[i] = {binding.address, binding.host, binding.length};
    }
    const baton_foreign_arguments arguments = {
        .struct_size = sizeof(arguments),
        .binding_count = static_cast<uint32_t>(given.bindings.size()),
        .bindings = ranges,
        .constants = given.constants.data(),
        .constant_count = given.constants.size(),
        .device = reinterpret_cast<baton_device*>(static_cast<baton_object*>(device_.get())),
        .self = &given.scope,
        .extension = extension};
    return Status::adopt(reinterpret_cast<Status::Failure*>(call_(data_, &arguments)));
  }

 private:
  static baton_status* extension(void* self, baton_string given, void* out) {
    const std::string_view name(given.data, static_cast<size_t>(given.size));
    if (!out) return to_door(failure(StatusCode::kInvalidArgument, "Extension '", name, "' needs a struct to fill."));
    return to_door(static_cast<hal::ForeignScope*>(self)->extension(name, out));
  }

  baton_status* (*call_)(void* data, const baton_foreign_arguments* arguments);
  void (*release_)(void* data);
  void* data_;
  const sdk::Ref<Handle<hal::Device>> device_;
};

template <typename Command>
std::string function_name(const Command& command, const hal::CustomCommand* from) {
  if (command.name.data && command.name.size)
    return std::string(command.name.data, static_cast<size_t>(command.name.size));
  return from ? text(from->module, ".", from->function) : std::string();
}

Status host_call(baton_command_buffer* commands, const baton_host_call* given) {
  BATON_TRY_ASSIGN(const baton_host_call* command, sized(given));
  const auto* handle = sdk::cast<CommandBufferHandle>(reinterpret_cast<baton_object*>(commands));
  // From here on `data` is ours, whatever happens.
  const auto function = make_ref<ModuleFunction>(function_name(*command, handle ? handle->open() : nullptr), *command);
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  if (!command->call) return failure(StatusCode::kInvalidArgument, "A host call needs a function; it has none.");
  BATON_TRY(check_whole(*command));
  BindingList bindings;
  BATON_TRY(translate(command->bindings, command->binding_count, bindings));
  return target->host_call({.function = function.get(),
                            .constants = {command->constants, command->constant_count},
                            .constant_slots = translate(command->constant_slots, command->constant_slot_count),
                            .bindings = bindings.items()});
}

Status foreign(baton_command_buffer* commands, const baton_foreign* given) {
  BATON_TRY_ASSIGN(const baton_foreign* command, sized(given));
  auto* handle = sdk::cast<CommandBufferHandle>(reinterpret_cast<baton_object*>(commands));
  // From here on `data` is ours, whatever happens.
  const auto function = make_ref<ForeignModuleFunction>(
      function_name(*command, handle ? handle->open() : nullptr), *command,
      handle ? sdk::Ref<Handle<hal::Device>>(&handle->device_handle()) : sdk::Ref<Handle<hal::Device>>());
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  if (!command->call) return failure(StatusCode::kInvalidArgument, "A foreign call needs a function; it has none.");
  BATON_TRY(check_whole(*command));
  BindingList bindings;
  BATON_TRY(translate(command->bindings, command->binding_count, bindings));
  return target->foreign({.function = function.get(),
                          .constants = {command->constants, command->constant_count},
                          .constant_slots = translate(command->constant_slots, command->constant_slot_count),
                          .bindings = bindings.items()});
}

// The refusal names the device and who asked.
Status extension(baton_command_buffer* commands, std::string_view name, void* out) {
  BATON_TRY_ASSIGN(hal::CommandBuffer * target, opened(commands));
  const auto& handle = *sdk::cast<CommandBufferHandle>(reinterpret_cast<baton_object*>(commands));
  if (!out) return failure(StatusCode::kInvalidArgument, "Extension '", name, "' needs a struct to fill; it has none.");
  const hal::CustomCommand& from = *handle.open();
  BATON_TRY_CONTEXT(target->extension(name, out), "in a recording on device '", handle.device().name(),
                    "', which command '", from.module, ".", from.function, "' asked for it");
  return {};
}

baton_device* device(baton_command_buffer* commands) {
  auto* handle = sdk::cast<CommandBufferHandle>(reinterpret_cast<baton_object*>(commands));
  return handle ? reinterpret_cast<baton_device*>(&handle->device_handle()) : nullptr;
}

// `kVerb` as a function of the table.
template <auto kVerb>
struct Entry;
template <typename Command, Status (*kVerb)(baton_command_buffer*, const Command*)>
struct Entry<kVerb> {
  static baton_status* call(baton_command_buffer* commands, const Command* command) {
    return to_door(kVerb(commands, command));
  }
};

baton_status* extension_entry(baton_command_buffer* commands, baton_string name, void* out) {
  if (lacks(name)) return missing("name of an extension");
  return to_door(extension(commands, {name.data, static_cast<size_t>(name.size)}, out));
}

}  // namespace

constinit const baton_recording_table kRecordingTable = {
    .struct_size = sizeof(baton_recording_table),
    .reserved = 0,
    .command_buffer_type = &sdk::detail::kObjectType<CommandBufferHandle>,
    .device = device,
    .fill_buffer = Entry<fill>::call,
    .update_buffer = Entry<update>::call,
    .copy_buffer = Entry<copy>::call,
    .dispatch = Entry<dispatch>::call,
    .dispatch_indirect = Entry<dispatch_indirect>::call,
    .barrier = Entry<barrier>::call,
    .host_call = Entry<host_call>::call,
    .extension = extension_entry,
    .foreign = Entry<foreign>::call,
    .channel_type = &sdk::detail::kObjectType<Handle<hal::Channel>>,
    .channel_rank = channel_rank,
    .channel_count = channel_count,
    .collective = Entry<collective>::call,
};

}  // namespace baton::modules
