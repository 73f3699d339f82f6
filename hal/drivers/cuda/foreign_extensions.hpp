// What only a recording on a CUDA device offers, by name: for foreign functions (hal/foreign_function.hpp) and for what
// a custom command records. The structs are those of modules/sdk/cuda.h, byte for byte; hal does not include the door.
//
//   "cuda.stream.v1"  StreamV1   Work that is enqueued on the stream stands in the recording at this point. Capturing,
//                                it must not be synchronized with, and it is never to be kept after the call.
//   "cuda.guarded_stream.v1"  StreamV1
//                                The same; while it captures, use of the legacy stream breaks the capture and is told.
//                                It comes before the others, and costs a capture that is begun anew.
//   "cuda.graph.v1"   GraphV1    The graph of this point, to add nodes to. What follows depends on every node without a
//                                successor. A foreign call on a stream that asks for it first (before the stream) gets
//                                one too, which is launched on that stream when the call returns.
#pragma once

#include <cstdint>

namespace baton::hal::drivers::cuda {

struct StreamV1 {
  uint32_t struct_size = 0;
  uint32_t capturing = 0;   // 1: into a graph.
  void* stream = nullptr;   // CUstream
  void* context = nullptr;  // CUcontext, current on this thread during the call.
};

struct GraphV1 {
  uint32_t struct_size = 0;
  uint32_t dependency_count = 0;
  void* graph = nullptr;                // CUgraph
  void* const* dependencies = nullptr;  // CUgraphNode
  void* context = nullptr;              // CUcontext
  void* self = nullptr;
  // Makes what is captured from here on depend on these nodes. What it returns is a Status::Failure or null.
  void* (*join)(void* self, void* const* nodes, uint64_t node_count) = nullptr;
};

inline constexpr const char* kStreamExtension = "cuda.stream.v1";
inline constexpr const char* kGuardedStreamExtension = "cuda.guarded_stream.v1";
inline constexpr const char* kGraphExtension = "cuda.graph.v1";

}  // namespace baton::hal::drivers::cuda
