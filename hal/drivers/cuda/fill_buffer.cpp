// fill_buffer on CUDA: the driver's memset for patterns of up to four bytes, a kernel of ours for eight.

#include "hal/commands/fill_buffer.hpp"

#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/graph.hpp"

namespace baton::hal::drivers::cuda {
namespace {

struct FillRecord : Record {
  RecordedBinding target;
  uint64_t pattern;
  uint32_t element_bytes;
  uint64_t count;
};

Status issue_fill_buffer(Record& record, const Execution& execution) {
  const auto& command = static_cast<const FillRecord&>(record);
  const Symbols& symbols = execution.symbols();
  const CUdeviceptr target = command.target.address(execution);
  const CUstream stream = execution.stream.handle();
  const auto pattern = static_cast<uint32_t>(command.pattern);
  switch (command.element_bytes) {
    case 1:
      return execution.context.status_of(
          symbols.cuMemsetD8Async(target, static_cast<uint8_t>(pattern), command.count, stream), "cuMemsetD8Async");
    case 2:
      return execution.context.status_of(
          symbols.cuMemsetD16Async(target, static_cast<uint16_t>(pattern), command.count, stream), "cuMemsetD16Async");
    default:
      return execution.context.status_of(symbols.cuMemsetD32Async(target, pattern, command.count, stream),
                                         "cuMemsetD32Async");
  }
}

CUDA_MEMSET_NODE_PARAMS fill_of(const Record& record, const Execution& execution) {
  const auto& command = static_cast<const FillRecord&>(record);
  const uint32_t mask = command.element_bytes == 4 ? ~0u : (1u << 8 * command.element_bytes) - 1;
  CUDA_MEMSET_NODE_PARAMS parameters = {};
  parameters.dst = command.target.address(execution);
  parameters.value = static_cast<uint32_t>(command.pattern) & mask;
  parameters.elementSize = command.element_bytes;
  parameters.width = command.count;
  parameters.height = 1;
  return parameters;
}

Status add_fill_buffer(Record& record, const Execution& execution, GraphBuilder& builder) {
  const CUDA_MEMSET_NODE_PARAMS parameters = fill_of(record, execution);
  CUgraphNode node = nullptr;
  const CUresult added =
      execution.symbols().cuGraphAddMemsetNode(&node, builder.graph(), builder.dependencies(),
                                               builder.dependency_count(), &parameters, execution.context.handle());
  if (added != CUDA_SUCCESS) return execution.context.status_of(added, "cuGraphAddMemsetNode");
  builder.added(node);
  return {};
}

Status patch_fill_buffer(Record& record, const Execution& execution, const PatchTarget& target) {
  const CUDA_MEMSET_NODE_PARAMS parameters = fill_of(record, execution);
  const CUresult set = execution.symbols().cuGraphExecMemsetNodeSetParams(target.graph, target.nodes[0], &parameters,
                                                                          execution.context.handle());
  return set == CUDA_SUCCESS ? Status() : execution.context.status_of(set, "cuGraphExecMemsetNodeSetParams");
}

constexpr RecordVerbs kFillBuffer = {issue_fill_buffer, add_fill_buffer, patch_fill_buffer};

// Eight bytes: the kernel of builtins.hpp. Parameters: address, count, pattern.
struct WideFillRecord : Record {
  RecordedBinding target;
  uint64_t pattern;
  uint64_t count;
  CUkernel kernel;
};

struct WideFill {
  CUdeviceptr address;
  uint64_t count;
  uint64_t pattern;
  void* pointers[3] = {&address, &count, &pattern};

  WideFill(const WideFillRecord& command, const Execution& execution)
      : address(command.target.address(execution)), count(command.count), pattern(command.pattern) {}
  WideFill(const WideFill&) = delete;
  uint32_t blocks() const {
    constexpr uint64_t kBlocksMax = 2048;
    const uint64_t blocks = (count + Builtins::kThreads - 1) / Builtins::kThreads;
    return static_cast<uint32_t>(blocks < kBlocksMax ? blocks : kBlocksMax);
  }
  CUDA_KERNEL_NODE_PARAMS node(const WideFillRecord& command, const Execution& execution) {
    CUDA_KERNEL_NODE_PARAMS parameters = {};
    parameters.kern = command.kernel;
    parameters.ctx = execution.context.handle();
    parameters.gridDimX = blocks();
    parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = Builtins::kThreads;
    parameters.blockDimY = parameters.blockDimZ = 1;
    parameters.kernelParams = pointers;
    return parameters;
  }
};

Status issue_wide_fill(Record& record, const Execution& execution) {
  const auto& command = static_cast<const WideFillRecord&>(record);
  WideFill fill(command, execution);
  return execution.context.status_of(
      execution.symbols().cuLaunchKernel(reinterpret_cast<CUfunction>(command.kernel), fill.blocks(), 1, 1,
                                         Builtins::kThreads, 1, 1, 0, execution.stream.handle(), fill.pointers,
                                         nullptr),
      "cuLaunchKernel");
}

Status add_wide_fill(Record& record, const Execution& execution, GraphBuilder& builder) {
  const auto& command = static_cast<const WideFillRecord&>(record);
  WideFill fill(command, execution);
  const CUDA_KERNEL_NODE_PARAMS parameters = fill.node(command, execution);
  CUgraphNode node = nullptr;
  const CUresult added = execution.symbols().cuGraphAddKernelNode(&node, builder.graph(), builder.dependencies(),
                                                                  builder.dependency_count(), &parameters);
  if (added != CUDA_SUCCESS) return execution.context.status_of(added, "cuGraphAddKernelNode");
  builder.added(node);
  return {};
}

Status patch_wide_fill(Record& record, const Execution& execution, const PatchTarget& target) {
  const auto& command = static_cast<const WideFillRecord&>(record);
  WideFill fill(command, execution);
  const CUDA_KERNEL_NODE_PARAMS parameters = fill.node(command, execution);
  const CUresult set = execution.symbols().cuGraphExecKernelNodeSetParams(target.graph, target.nodes[0], &parameters);
  return set == CUDA_SUCCESS ? Status() : execution.context.status_of(set, "cuGraphExecKernelNodeSetParams");
}

constexpr RecordVerbs kWideFill = {issue_wide_fill, add_wide_fill, patch_wide_fill};

}  // namespace

Status CommandBuffer::fill_buffer(const commands::FillBuffer& command) {
  if (command.target.length == 0) return leave_out(command);
  const bool equal_halves = command.pattern >> 32 == (command.pattern & 0xffffffff);
  if (command.pattern_bytes == 8 && !equal_halves) {
    auto& device = static_cast<Device&>(recording_->device());
    auto* record = new (arena().allocate_array<WideFillRecord>(1)) WideFillRecord;
    BATON_TRY_ASSIGN(record->kernel, device.builtins().wide_fill());
    record->target = RecordedBinding::make(command.target);
    record->pattern = command.pattern;
    record->count = command.target.length / 8;
    return append(command, *record, kWideFill);
  }
  auto* record = new (arena().allocate_array<FillRecord>(1)) FillRecord;
  record->target = RecordedBinding::make(command.target);
  record->pattern = command.pattern;
  record->element_bytes = command.pattern_bytes == 8 ? 4 : command.pattern_bytes;
  record->count = command.target.length / record->element_bytes;
  return append(command, *record, kFillBuffer);
}

}  // namespace baton::hal::drivers::cuda
