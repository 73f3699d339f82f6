// Copies and fills as nodes of a graph: what the verbs that move bytes share.
#pragma once

#include "hal/drivers/cuda/graph.hpp"

namespace baton::hal::drivers::cuda {

// One row of `length` bytes, wherever the two addresses are.
inline CUDA_MEMCPY3D copy_parameters(CUdeviceptr target, CUdeviceptr source, uint64_t length) {
  CUDA_MEMCPY3D parameters = {};
  parameters.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  parameters.srcDevice = source;
  parameters.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  parameters.dstDevice = target;
  parameters.WidthInBytes = length;
  parameters.Height = 1;
  parameters.Depth = 1;
  return parameters;
}

inline Status add_copy_node(const CUDA_MEMCPY3D& parameters, const Execution& execution, GraphBuilder& builder) {
  CUgraphNode node = nullptr;
  const CUresult added =
      execution.symbols().cuGraphAddMemcpyNode(&node, builder.graph(), builder.dependencies(),
                                               builder.dependency_count(), &parameters, execution.context.handle());
  if (added != CUDA_SUCCESS) return execution.context.status_of(added, "cuGraphAddMemcpyNode");
  builder.added(node);
  return {};
}

inline Status patch_copy_node(const CUDA_MEMCPY3D& parameters, const Execution& execution, CUgraphExec graph,
                              CUgraphNode node) {
  const CUresult set =
      execution.symbols().cuGraphExecMemcpyNodeSetParams(graph, node, &parameters, execution.context.handle());
  return set == CUDA_SUCCESS ? Status() : execution.context.status_of(set, "cuGraphExecMemcpyNodeSetParams");
}

}  // namespace baton::hal::drivers::cuda
