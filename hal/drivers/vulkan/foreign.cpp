// foreign on Vulkan: the recording is split; each time that it runs, the call gets a command buffer, if it asks for
// one, and what it recorded there is submitted when it returns.

#include "hal/commands/foreign.hpp"

#include "base/bytes.hpp"
#include "hal/device.hpp"
#include "hal/drivers/vulkan/command_buffer.hpp"
#include "hal/drivers/vulkan/foreign_extensions.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using ForeignStep = FunctionStep<ForeignFunction>;

class Scope final : public ForeignScope {
 public:
  explicit Scope(const HostExecution& execution) : execution_(execution) {}
  ~Scope() {
    if (open_.commands) execution_.commands.drop(open_);
  }

  Status extension(std::string_view name, void* out) override {
    if (name != kCommandBufferExtension) {
      return failure(StatusCode::kUnimplemented, "Device '", execution_.device.name(), "' has no extension '", name,
                     "'.");
    }
    const auto size = load_bytes<uint32_t>(out);
    if (size < sizeof(CommandBufferV1)) {
      return failure(StatusCode::kInvalidArgument, "Extension '", name, "' takes a struct of ", sizeof(CommandBufferV1),
                     " bytes; struct_size says ", size, ".");
    }
    if (!open_.commands) {
      BATON_TRY_ASSIGN(open_, execution_.commands.begin());
    }
    const Context& context = execution_.commands.timeline().context();
    auto& handles = *static_cast<CommandBufferV1*>(out);
    handles.queue_family = context.facts().queue_family;
    handles.physical_device = context.facts().handle;
    handles.device = context.handle();
    handles.command_buffer = open_.commands;
    handles.get_device_proc_addr = reinterpret_cast<void*>(context.get_device_proc_addr());
    return {};
  }

  // Submits what was recorded, and waits for it: the next step may be the host's.
  Status submit() {
    if (!open_.commands) return {};
    BATON_TRY_ASSIGN(const uint64_t serial, execution_.commands.submit(std::exchange(open_, {})));
    return execution_.commands.timeline().wait(serial);
  }

 private:
  const HostExecution& execution_;
  SingleCommands::Open open_{};
};

Status run_foreign(const HostStep& step, const HostExecution& execution) {
  const auto& call = static_cast<const ForeignStep&>(step);
  std::vector<ForeignBinding> bindings;
  for (const ResolvedBinding& binding : call.arguments.resolved(execution.arguments)) {
    std::byte* const host = binding.buffer->block().host();
    bindings.push_back({binding.address, host ? host + binding.buffer_offset : nullptr, binding.length});
  }
  const std::vector<uint32_t> constants = call.arguments.filled_constants(execution.arguments);
  Scope scope(execution);
  Status status = call.function->record({execution.device, scope, bindings, constants});
  if (status.ok()) status = scope.submit();
  BATON_TRY_CONTEXT(std::move(status), "in foreign call '", call.function->name(), "'");
  return {};
}

}  // namespace

Status CommandBuffer::foreign(const commands::Foreign& command) {
  return add_function_step<ForeignFunction>(command, run_foreign);
}

}  // namespace baton::hal::drivers::vulkan
