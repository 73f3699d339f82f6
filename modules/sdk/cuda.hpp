// What a recording on a CUDA device has besides, for rec.cuda(): the twin of cuda.h.
//
// On another device each call fails and names device, module and function. Threads: as the call.
#pragma once

#include "modules/sdk/cuda.h"
#include "modules/sdk/recording.h"
#include "modules/sdk/status.hpp"

namespace baton::sdk {

class Cuda {
 public:
  static constexpr std::string_view kDriver = "cuda";

  Cuda(baton_command_buffer* commands, const baton_recording_table& table) : commands_(commands), table_(table) {}

  // The stream that runs or captures here, until the command returns.
  Result<baton_cuda_stream> stream() const { return ask<baton_cuda_stream>(BATON_CUDA_STREAM_V1); }
  // The graph that is being built. Nodes that were added are handed over with join().
  Result<baton_cuda_graph> graph() const { return ask<baton_cuda_graph>(BATON_CUDA_GRAPH_V1); }

 private:
  template <typename Struct>
  Result<Struct> ask(std::string_view name) const {
    Struct answer = {};
    answer.struct_size = sizeof(answer);
    Status status = Status::adopt(table_.extension(commands_, {name.data(), name.size()}, &answer));
    if (!status.ok()) return status;
    return answer;
  }

  baton_command_buffer* commands_;
  const baton_recording_table& table_;
};

}  // namespace baton::sdk
