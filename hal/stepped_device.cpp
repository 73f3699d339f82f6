#include "hal/stepped_device.hpp"

#include <mutex>
#include <unordered_map>

#include "base/text.hpp"
#include "hal/command_name.hpp"
#include "hal/drivers/common/resolve.hpp"

namespace baton::hal {
namespace {

// Longer than any work takes that was submitted before; what waits for work that comes later never ends on one thread.
constexpr int64_t kWaitNs = 60'000'000'000;

#define COMMAND(Struct, verb, category) \
  Status record(CommandBuffer& target, const commands::Struct& command) { return target.verb(command); }
#include "hal/commands/commands.inc"
#undef COMMAND

// The ranges that a command may write.
struct WritesVisitor : FieldVisitor {
  explicit WritesVisitor(std::span<const BufferRange> with) : table(with) {}
  void binding(std::string_view, const Binding& binding, BufferUsage usage) {
    if (has_all(access_of(usage), Access::kWrite)) add(binding);
  }
  void bindings(std::string_view, std::span<const Binding> list, BufferUsage) {
    for (const Binding& one : list) {
      if (has_all(one.access, Access::kWrite)) add(one);
    }
  }
  void add(const Binding& binding) {
    if (!binding.is_slot()) {
      writes.push_back({binding.buffer, binding.offset, binding.length});
      return;
    }
    if (binding.slot >= table.size() || !table[binding.slot].buffer) return;
    const BufferRange& range = table[binding.slot];
    const uint64_t length = binding.is_open() ? range_length(range) - binding.offset : binding.length;
    writes.push_back({range.buffer, range.offset + binding.offset, length});
  }
  std::span<const BufferRange> table;
  std::vector<BufferRange> writes;
};

// What a command of a custom command is known by.
struct CustomName final : WorkLabel {
  explicit CustomName(std::string_view of) : name(of) {}
  std::string name;
};

class Stepper final : public DeviceObserver {
 public:
  Stepper(Device& driven, std::shared_ptr<StepListener> listener) : driven_(driven), listener_(std::move(listener)) {}

  const WorkLabel* recording(const CommandNotice& notice) override {
    if (notice.custom.empty()) return nullptr;
    const std::lock_guard lock(mutex_);
    return &customs_.try_emplace(notice.custom, notice.custom).first->second;
  }

  Status execute(Queue& queue, const Order& order, ObservedRecording& recording, const BindingTable& table) override {
    const std::lock_guard lock(execution_mutex_);
    BATON_TRY(recording.driven().check(table));
    for (const SemaphorePoint& wait : order.waits) {
      BATON_TRY_CONTEXT(wait.semaphore->wait(wait.value, kWaitNs), "while waiting for what recording \"",
                        recording.name(), "\" waits for, command by command");
    }
    const Status ran = !listener_->listens() ? run(queue, recording.driven(), table)
                       : recording.opaque()  ? run_whole(queue, recording, table)
                                             : run_steps(queue, recording, table);
    if (ran.ok()) return queue.barrier({{}, order.signals});
    for (const SemaphorePoint& signal : order.signals) signal.semaphore->fail(ran);
    return order.signals.empty() ? ran.clone() : Status();
  }

 private:
  Status run_steps(Queue& queue, const ObservedRecording& recording, const BindingTable& table) {
    Status status;
    recording.for_each([&](uint32_t index, const auto& command) {
      using Command = std::remove_cvref_t<decltype(command)>;
      if (!status.ok() || kind_of<Command> == CommandKind::kBarrier) return;
      WritesVisitor visitor(table.buffers);
      Command::visit(command, visitor);
      const auto* const custom = static_cast<const CustomName*>(recording.command_labels()[index]);
      const Step step{next_++,
                      std::string(command_verb(kind_of<Command>)),
                      name_of(command).name,
                      recording.name(),
                      custom ? custom->name : "",
                      std::move(visitor.writes)};
      status = listener_->stepped(driven_, step, run_alone(queue, recording, command, table));
      if (!status.ok()) status = std::move(status).with_context(text("at step ", step.describe()));
    });
    return status;
  }

  template <typename Command>
  Status run_alone(Queue& queue, const ObservedRecording& recording, const Command& command,
                   const BindingTable& table) {
    BATON_TRY_ASSIGN(auto commands,
                     driven_.make_command_buffer({.name = recording.name(),
                                                  .slot_count = static_cast<uint32_t>(recording.slots().needs().size()),
                                                  .constant_slot_count = recording.constant_slot_count()}));
    BATON_TRY(record(*commands, command));
    BATON_TRY_ASSIGN(const Ref<Recording> alone, commands->finish());
    return run(queue, *alone, table);
  }

  Status run_whole(Queue& queue, const ObservedRecording& recording, const BindingTable& table) {
    WritesVisitor visitor(table.buffers);
    recording.for_each(
        [&](uint32_t, const auto& command) { std::remove_cvref_t<decltype(command)>::visit(command, visitor); });
    for (const BufferRange& range : table.buffers) {
      if (range.buffer) visitor.writes.push_back({range.buffer, range.offset, range_length(range)});
    }
    const Step step{next_++, "recording", recording.name(), recording.name(), "", std::move(visitor.writes)};
    return listener_->stepped(driven_, step, run(queue, recording.driven(), table));
  }

  Status run(Queue& queue, Recording& recording, const BindingTable& table) {
    BATON_TRY_ASSIGN(const Ref<Semaphore> done, driven_.make_semaphore(0));
    const SemaphorePoint point(done, 1);
    BATON_TRY(queue.execute({{}, {&point, 1}}, recording, table));
    return done->wait(1, kWaitNs);
  }

  Device& driven_;
  const std::shared_ptr<StepListener> listener_;
  std::mutex execution_mutex_;
  uint64_t next_ = 0;  // Guarded by execution_mutex_.
  std::mutex mutex_;
  std::unordered_map<std::string, CustomName> customs_;  // Guarded by mutex_; labels point into it.
};

}  // namespace

std::string Step::describe() const {
  std::string words = text(number, " ", verb, " '", name, "'");
  if (!custom.empty()) words += text(" of ", custom);
  return words + text(" in recording \"", recording, "\"");
}

Ref<Device> step(Ref<Device> device, std::shared_ptr<StepListener> listener) {
  auto stepper = std::make_shared<Stepper>(*device, std::move(listener));
  return observe(std::move(device), std::move(stepper));
}

}  // namespace baton::hal
