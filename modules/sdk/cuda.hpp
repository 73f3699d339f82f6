// What a command buffer on a CUDA device offers in addition: rec.cuda() while a custom command records, here.cuda() in a foreign
// function. The twin of cuda.h.
//
// On a host each call fails and names device, module and function; on a device that runs nothing what comes is empty.
// Threads: as the call.
#pragma once

#include <span>

#include "modules/sdk/cuda.h"
#include "modules/sdk/status.hpp"

namespace baton::sdk {

// The graph of this point, to add nodes to.
struct CudaGraph : baton_cuda_graph {
  // What the nodes to add depend on: CUgraphNode.
  std::span<void* const> after() const { return {dependencies, dependency_count}; }
  // What is captured from here on depends on these.
  Status join(std::span<void* const> nodes) const {
    const baton_cuda_graph& table = *this;
    return table.join ? Status::adopt(table.join(self, nodes.data(), nodes.size())) : Status();
  }
};
static_assert(sizeof(CudaGraph) == sizeof(baton_cuda_graph));

class Cuda {
 public:
  static constexpr std::string_view kDriver = "cuda";
  using Ask = baton_status* (*)(void* self, baton_string name, void* out);

  Cuda(void* self, Ask function) : self_(self), ask_(function) {}

  // The stream that runs or captures here, until the function returns.
  Result<baton_cuda_stream> stream() const { return ask<baton_cuda_stream>(BATON_CUDA_STREAM_V1); }
  // The same, where use of the legacy stream is found out (BATON_CUDA_GUARDED_STREAM_V1 says at what price).
  Result<baton_cuda_stream> guarded_stream() const { return ask<baton_cuda_stream>(BATON_CUDA_GUARDED_STREAM_V1); }
  Result<CudaGraph> graph() const { return ask<CudaGraph>(BATON_CUDA_GRAPH_V1); }

 private:
  template <typename Struct>
  Result<Struct> ask(std::string_view name) const {
    Struct answer = {};
    answer.struct_size = sizeof(answer);
    Status status = Status::adopt(ask_(self_, {name.data(), name.size()}, &answer));
    if (!status.ok()) return status;
    return answer;
  }

  void* self_;
  Ask ask_;
};

}  // namespace baton::sdk
