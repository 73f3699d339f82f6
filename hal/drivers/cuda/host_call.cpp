// host_call on CUDA: a host function of the stream, or a host node. Bindings that the host cannot see are copied to
// pinned memory before it and back after it.

#include "hal/commands/host_call.hpp"

#include <algorithm>

#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/driver_callback.hpp"
#include "hal/drivers/cuda/transfer_node.hpp"

namespace baton::hal::drivers::cuda {
namespace {

struct HostCallRecord : Record {
  HostFunction* function;
  std::span<const uint32_t> constants;
  std::span<const ConstantSlot> constant_slots;
  std::span<const RecordedBinding> bindings;
};

// In a graph the nodes are there before the tables are known, so what a slot brings is always copied.
bool is_staged(const RecordedBinding& binding, const Execution& execution, bool in_graph) {
  return in_graph ? binding.slot != 0 || !binding.host : !binding.data(execution);
}

// One call: what it gets, until the device has done what follows it.
class HostRun final : public Kept {
 public:
  static Result<HostRun*> make(const HostCallRecord& command, const Execution& execution, bool in_graph) {
    auto run = std::unique_ptr<HostRun>(new HostRun(command, execution));
    for (const RecordedBinding& binding : command.bindings) {
      const auto size = static_cast<size_t>(binding.size(execution));
      if (!is_staged(binding, execution, in_graph)) {
        run->bindings_.emplace_back(binding.data(execution), size);
        continue;
      }
      BATON_TRY_ASSIGN(Block block, execution.memory.take_staging(size));
      run->bindings_.emplace_back(block.host, size);
      run->copies_.push_back({block.address, binding.address(execution), size});
      run->staging_.push_back(std::move(block));
    }
    HostRun* made = run.get();
    execution.mark.keep(std::move(run));
    return made;
  }
  ~HostRun() override {
    for (Block& block : staging_) memory_->give_pinned(std::move(block));
  }

  struct Copy {
    CUdeviceptr staging;
    CUdeviceptr device;
    size_t length;
  };
  std::span<const Copy> copies() const { return copies_; }

  // A driver's thread calls it. What failed before it must not run on garbage.
  static void CUDA_CB call(void* data) {
    auto& run = *static_cast<HostRun*>(data);
    if (run.mark_.failed()) return;
    const DriverCallback callback;
    Status status = run.function_.call({run.device_, run.bindings_, run.constants_});
    if (!status.ok()) {
      run.mark_.fail(std::move(status).with_context(text("in host call '", run.function_.name(), "'")));
    }
  }

 private:
  HostRun(const HostCallRecord& command, const Execution& execution)
      : device_(execution.device),
        memory_(&execution.memory),
        mark_(execution.mark),
        function_(*command.function),
        constants_(command.constants.begin(), command.constants.end()) {
    for (const ConstantSlot& slot : command.constant_slots) constants_[slot.constant] = execution.constants[slot.slot];
  }

  hal::Device& device_;  // The recording, kept by the same mark, keeps it.
  Ref<Memory> memory_;
  Mark& mark_;  // Owns this.
  HostFunction& function_;
  std::vector<uint32_t> constants_;
  std::vector<std::span<std::byte>> bindings_;
  std::vector<Copy> copies_;
  std::vector<Block> staging_;
};

Status issue_copies(const HostRun& run, const Execution& execution, bool to_host) {
  for (const HostRun::Copy& copy : run.copies()) {
    if (copy.length == 0) continue;
    const CUdeviceptr target = to_host ? copy.staging : copy.device;
    const CUdeviceptr source = to_host ? copy.device : copy.staging;
    BATON_TRY(execution.context.status_of(
        execution.symbols().cuMemcpyAsync(target, source, copy.length, execution.stream.handle()), "cuMemcpyAsync"));
  }
  return {};
}

Status issue_host_call(Record& record, const Execution& execution) {
  BATON_TRY_ASSIGN(HostRun * run, HostRun::make(static_cast<HostCallRecord&>(record), execution, false));
  BATON_TRY(issue_copies(*run, execution, true));
  BATON_TRY(execution.context.status_of(
      execution.symbols().cuLaunchHostFunc(execution.stream.handle(), HostRun::call, run), "cuLaunchHostFunc"));
  return issue_copies(*run, execution, false);
}

CUDA_MEMCPY3D copy_of(const HostRun::Copy& copy, bool to_host) {
  return to_host ? copy_parameters(copy.staging, copy.device, copy.length)
                 : copy_parameters(copy.device, copy.staging, copy.length);
}

Status add_host_call(Record& record, const Execution& execution, GraphBuilder& builder) {
  BATON_TRY_ASSIGN(HostRun * run, HostRun::make(static_cast<HostCallRecord&>(record), execution, true));
  for (const HostRun::Copy& copy : run->copies()) BATON_TRY(add_copy_node(copy_of(copy, true), execution, builder));
  const CUDA_HOST_NODE_PARAMS parameters = {HostRun::call, run};
  CUgraphNode node = nullptr;
  BATON_TRY(
      execution.context.status_of(execution.symbols().cuGraphAddHostNode(&node, builder.graph(), builder.dependencies(),
                                                                         builder.dependency_count(), &parameters),
                                  "cuGraphAddHostNode"));
  builder.added(node);
  for (const HostRun::Copy& copy : run->copies()) BATON_TRY(add_copy_node(copy_of(copy, false), execution, builder));
  return {};
}

Status patch_host_call(Record& record, const Execution& execution, const PatchTarget& target) {
  BATON_TRY_ASSIGN(HostRun * run, HostRun::make(static_cast<HostCallRecord&>(record), execution, true));
  const size_t count = run->copies().size();
  for (size_t i = 0; i < count; ++i) {
    const HostRun::Copy& copy = run->copies()[i];
    BATON_TRY(patch_copy_node(copy_of(copy, true), execution, target.graph, target.nodes[i]));
    BATON_TRY(patch_copy_node(copy_of(copy, false), execution, target.graph, target.nodes[count + 1 + i]));
  }
  const CUDA_HOST_NODE_PARAMS parameters = {HostRun::call, run};
  return execution.context.status_of(
      execution.symbols().cuGraphExecHostNodeSetParams(target.graph, target.nodes[count], &parameters),
      "cuGraphExecHostNodeSetParams");
}

constexpr RecordVerbs kHostCall = {issue_host_call, add_host_call, patch_host_call};

}  // namespace

Status CommandBuffer::host_call(const commands::HostCall& command) {
  auto* record = new (arena().allocate_array<HostCallRecord>(1)) HostCallRecord;
  record->function = command.function;
  record->constants = arena().copy(command.constants);
  record->constant_slots = arena().copy(command.constant_slots);
  record->bindings = copy_bindings(command.bindings);
  record->always_patched = true;
  recording_->calls_host_ = true;
  const auto open = [](const RecordedBinding& binding) { return binding.open; };
  if (std::any_of(record->bindings.begin(), record->bindings.end(), open)) {
    note_obstacle("a host call with a slot of no fixed length, which may be empty");
  }
  return append(command, *record, kHostCall);
}

}  // namespace baton::hal::drivers::cuda
