#include "modules/hal_module/custom_command.hpp"

#include "modules/hal_module/objects.hpp"
#include "modules/hal_module/resource.hpp"

namespace baton::modules {

// Made ready once; stays until the state goes.
struct PreparingState::Device {
  Ref<hal::Device> device;
  Device* next;
};

namespace {

// Of a slot argument: what all modules know.
constexpr uint64_t kIndexAndAccess = (uint64_t{1} << (hal::kSlotAccessShift + 2)) - 1;

using CommandBufferHandle = Handle<hal::CommandBuffer>;

bool is_ready(const PreparingState& state, const hal::Device& device) {
  for (const auto* each = state.ready.load(std::memory_order_acquire); each; each = each->next) {
    if (each->device.get() == &device) return true;
  }
  return false;
}

// Of several threads that come first, one prepares and the others wait for it.
[[gnu::cold, gnu::noinline]] Status make_ready(PreparingState& state, const CommandExport& command,
                                               CommandBufferHandle& commands) {
  std::lock_guard lock(state.preparing);
  hal::Device& device = commands.device();
  if (is_ready(state, device)) return {};
  auto* handle = reinterpret_cast<baton_device*>(static_cast<baton_object*>(&commands.device_handle()));
  BATON_TRY_CONTEXT(Status::adopt(reinterpret_cast<Status::Failure*>(command.prepare(state.own, handle))),
                    "while module '", command.name.module, "' prepared for device '", device.name(),
                    "', before its command '", command.name.function, "'");
  state.ready.store(new PreparingState::Device{Ref<hal::Device>(&device), state.ready.load()},
                    std::memory_order_release);
  return {};
}

[[gnu::cold, gnu::noinline]] baton_status* not_a_command_buffer(const CommandExport& command,
                                                                const baton_object* given) {
  return to_door(failure(StatusCode::kInvalidArgument, "Command '", command.name.module, ".", command.name.function,
                         "' records into a 'hal.command_buffer', not ", given ? "a '" : "null",
                         given ? given->type->name : "", given ? "'." : "."));
}

// Recordings are made in one go.
[[gnu::cold, gnu::noinline]] Status must_not_wait(const CommandExport& command, baton_call& call) {
  baton_object_release(std::exchange(call.pending, nullptr));
  return failure(StatusCode::kFailedPrecondition, "Command '", command.name.module, ".", command.name.function,
                 "' wants to wait while it records; commands record at once.");
}

// What the body said, else what closing the recording for it found.
baton_status* outcome_of(const CommandExport& command, baton_call& call, baton_status* said, Status closed) {
  if (said) {
    baton_object_release(call.pending);
    return said;
  }
  if (call.pending) [[unlikely]]
    return to_door(must_not_wait(command, call));
  return to_door(std::move(closed));
}

}  // namespace

baton_status* run_command(baton_call* call) {
  const auto& command = *static_cast<const CommandExport*>(call->data);
  auto* commands = sdk::cast<CommandBufferHandle>(call->refs[0]);
  if (!commands) [[unlikely]]
    return not_a_command_buffer(command, call->refs[0]);
  baton_call inner = inner_call(*call, call->state, command.data);
  if (command.prepare) {
    auto& state = *static_cast<PreparingState*>(call->state);
    if (!is_ready(state, commands->device())) [[unlikely]] {
      if (Status status = make_ready(state, command, *commands); !status.ok()) return to_door(std::move(status));
    }
    inner.state = state.own;
  }
  for (const uint16_t slot : command.untyped_slots) inner.values[slot].bits &= kIndexAndAccess;
  if (Status status = (**commands).begin_custom(command.name); !status.ok()) [[unlikely]]
    return to_door(std::move(status));

  // Beyond this point end_custom must be reached.
  commands->open_for(&command.name);
  baton_status* const said = command.body(&inner);
  commands->open_for(nullptr);
  return outcome_of(command, inner, said, (**commands).end_custom(command.name));
}

void forget_devices(PreparingState& state) {
  for (auto* each = state.ready.exchange(nullptr); each;) delete std::exchange(each, each->next);
}

const DeviceDoor& device_door() {
  static constexpr DeviceDoor door = {&kDeviceTable, &kRecordingTable, run_command, forget_devices};
  return door;
}

}  // namespace baton::modules
