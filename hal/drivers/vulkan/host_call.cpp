// host_call on Vulkan: the recording is split; a thread of the device calls the function when all before it is done.
// Bindings that the host cannot see, or reads slowly, are copied to memory of the host and back.

#include "hal/commands/host_call.hpp"

#include "hal/drivers/vulkan/command_buffer.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

struct HostCallStep : HostStep {
  HostFunction* function = nullptr;
  HostStepArguments arguments;
};

// The bytes of the bindings, until they are put back.
class HostBindings {
 public:
  explicit HostBindings(std::vector<ResolvedBinding> bindings) : bindings_(std::move(bindings)) {}
  ~HostBindings() {
    for (size_t i = 0; i < staged_.size(); ++i) const Status dropped = put_back(i, Access::kNone);
  }

  Status fetch(std::span<const RecordedBinding> recorded) {
    staged_.resize(bindings_.size());
    for (size_t i = 0; i < bindings_.size(); ++i) {
      const ResolvedBinding& binding = bindings_[i];
      std::byte* data = binding.buffer->fast_host();
      if (data) {
        data += binding.buffer_offset;
      } else {
        BATON_TRY_ASSIGN(staged_[i], binding.buffer->fetch(recorded[i].access, binding.buffer_offset, binding.length));
        data = staged_[i].data;
      }
      bytes_.emplace_back(data, static_cast<size_t>(binding.length));
    }
    return {};
  }

  Status put(std::span<const RecordedBinding> recorded) {
    Status first;
    for (size_t i = 0; i < staged_.size(); ++i) {
      Status status = put_back(i, recorded[i].access);
      if (first.ok()) first = std::move(status);
    }
    return first;
  }

  std::span<const std::span<std::byte>> bytes() const { return bytes_; }

 private:
  Status put_back(size_t i, Access access) {
    if (!staged_[i].staging.slab) return {};
    const Buffer::Staged staged = std::exchange(staged_[i], {});
    return bindings_[i].buffer->put(staged, access, bindings_[i].buffer_offset, bindings_[i].length);
  }

  std::vector<ResolvedBinding> bindings_;
  std::vector<Buffer::Staged> staged_;
  std::vector<std::span<std::byte>> bytes_;
};

Status run_host_call(const HostStep& step, const HostExecution& execution) {
  const auto& call = static_cast<const HostCallStep&>(step);
  HostBindings bindings(call.arguments.resolved(execution.arguments));
  BATON_TRY(bindings.fetch(call.arguments.bindings));
  const std::vector<uint32_t> constants = call.arguments.filled_constants(execution.arguments);
  BATON_TRY_CONTEXT(call.function->call({execution.device, bindings.bytes(), constants}), "in host call '",
                    call.function->name(), "'");
  return bindings.put(call.arguments.bindings);
}

}  // namespace

Status CommandBuffer::host_call(const commands::HostCall& command) {
  auto* step = new (arena().allocate_array<HostCallStep>(1)) HostCallStep{};
  step->kind = RecordKind::kHostStep;
  step->run = run_host_call;
  step->function = command.function;
  step->arguments = copy_arguments(command);
  BATON_TRY(add(*step));
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
