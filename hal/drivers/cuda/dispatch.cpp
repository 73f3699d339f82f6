// dispatch on CUDA: a kernel launch, or a kernel node.

#include "hal/commands/dispatch.hpp"

#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/graph.hpp"
#include "hal/drivers/cuda/launch.hpp"

namespace baton::hal::drivers::cuda {
namespace {

struct alignas(16) DispatchRecord : Record {
  Launch launch;
  uint32_t grid[3];
};

Status issue_dispatch(Record& record, const Execution& execution) {
  const auto& command = static_cast<const DispatchRecord&>(record);
  const LaunchParameters parameters(command.launch, execution);
  return launch(command.launch, command.grid, parameters, execution);
}

CUDA_KERNEL_NODE_PARAMS node_of(const DispatchRecord& command, LaunchParameters& launch_parameters,
                                const Execution& execution) {
  const Kernel& kernel = *command.launch.kernel;
  CUDA_KERNEL_NODE_PARAMS parameters = {};
  parameters.kern = kernel.handle;
  parameters.ctx = execution.context.handle();
  parameters.gridDimX = command.grid[0];
  parameters.gridDimY = command.grid[1];
  parameters.gridDimZ = command.grid[2];
  parameters.blockDimX = kernel.block[0];
  parameters.blockDimY = kernel.block[1];
  parameters.blockDimZ = kernel.block[2];
  parameters.sharedMemBytes = kernel.shared_bytes;
  launch_parameters.give_to(parameters, kernel);
  return parameters;
}

// What a kernel node cannot be told when it is added.
Status set_attributes(const Kernel& kernel, CUgraphNode node, const Execution& execution) {
  for (const CUlaunchAttribute& attribute : kernel.attributes) {
    BATON_TRY(execution.context.status_of(
        execution.symbols().cuGraphKernelNodeSetAttribute(node, attribute.id, &attribute.value),
        "cuGraphKernelNodeSetAttribute"));
  }
  return {};
}

// Behind another kernel, from where that one lets go (griddepcontrol), and not from its end.
Status add_early_edge(const Execution& execution, CUgraphNode node, GraphBuilder& builder) {
  CUgraphEdgeData edge = {};
  edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  return execution.context.status_of(
      execution.symbols().cuGraphAddEdges(builder.graph(), builder.dependencies(), &node, &edge, 1),
      "cuGraphAddDependencies");
}

Status add_dispatch(Record& record, const Execution& execution, GraphBuilder& builder) {
  const auto& command = static_cast<const DispatchRecord&>(record);
  LaunchParameters launch_parameters(command.launch, execution);
  const CUDA_KERNEL_NODE_PARAMS parameters = node_of(command, launch_parameters, execution);
  const Kernel& kernel = *command.launch.kernel;
  const bool early = kernel.early && builder.behind_kernel();
  CUgraphNode node = nullptr;
  const CUresult added = execution.symbols().cuGraphAddKernelNode(&node, builder.graph(), builder.dependencies(),
                                                                  early ? 0 : builder.dependency_count(), &parameters);
  if (added != CUDA_SUCCESS) {
    return execution.context.status_of(added, "cuGraphAddKernelNode")
        .with_context(text("for entry point '", command.launch.kernel->name, "'"));
  }
  BATON_TRY(set_attributes(kernel, node, execution));
  if (early) BATON_TRY(add_early_edge(execution, node, builder));
  builder.added(node, /*is_kernel=*/true);
  return {};
}

Status patch_dispatch(Record& record, const Execution& execution, const PatchTarget& target) {
  const auto& command = static_cast<const DispatchRecord&>(record);
  LaunchParameters launch_parameters(command.launch, execution);
  const CUDA_KERNEL_NODE_PARAMS parameters = node_of(command, launch_parameters, execution);
  const CUresult set = execution.symbols().cuGraphExecKernelNodeSetParams(target.graph, target.nodes[0], &parameters);
  return set == CUDA_SUCCESS ? Status() : execution.context.status_of(set, "cuGraphExecKernelNodeSetParams");
}

constexpr RecordVerbs kDispatch = {issue_dispatch, add_dispatch, patch_dispatch};

}  // namespace

Status CommandBuffer::dispatch(const commands::Dispatch& command) {
  if (command.grid[0] == 0 || command.grid[1] == 0 || command.grid[2] == 0) return leave_out(command);
  const LaunchShape shape{command.executable, command.entry_point, command.constants, command.constant_slots,
                          command.bindings};
  auto* record = make_launch_record<DispatchRecord>(arena(), shape);
  BATON_TRY(watch_accesses(record->launch, shape));
  for (int axis = 0; axis < 3; ++axis) record->grid[axis] = command.grid[axis];
  note_kernel(record->launch.kernel->name);
  return append(command, *record, kDispatch);
}

}  // namespace baton::hal::drivers::cuda
