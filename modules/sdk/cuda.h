/* What a command buffer on a CUDA device offers in addition: structs for `extension` of baton_recording_table, while a custom
 * command records, and of baton_foreign_arguments, while a foreign function is called. Frozen: append only. Handles are
 * void* so that this header needs none of CUDA's.
 *
 * In a custom command the addresses are those of buffers that the command names; what a slot stands for has an address
 * only in a foreign function. A device that runs nothing fills the structs with zeros and notes that something stands
 * here: then there is nothing to enqueue on. */
#ifndef BATON_MODULES_SDK_CUDA_H_
#define BATON_MODULES_SDK_CUDA_H_

#include <stdint.h>

#include "modules/sdk/status.h"

/* The stream that runs, or captures, at this point of the recording, until the function returns. Work that a library
 * launches on it is ordered as a command recorded here would be. */
#define BATON_CUDA_STREAM_V1 "cuda.stream.v1"
typedef struct baton_cuda_stream {
  uint32_t struct_size;
  uint32_t capturing; /* 1: into a graph; synchronising and allocating on it would break the capture */
  void* stream;       /* CUstream; NULL: nothing is run */
  void* context;      /* CUcontext, current on this thread during the call */
} baton_cuda_stream;

/* The same, found out: while it captures, work that the call puts on the legacy stream (a library's default, for example)
 * breaks the capture, and the error names the call. On the plain stream such work runs outside of the graph, once,
 * without a word. The price: work that another thread puts on the legacy stream just then breaks the capture, too, and
 * drivers (580) have been seen to crash in that thread, so ask for it where no other thread of the app uses the legacy
 * stream; PyTorch and others do. It is asked for before a stream or a graph, and costs a capture that is begun anew. With
 * cuda_legacy_stream=guarded every stream is one. */
#define BATON_CUDA_GUARDED_STREAM_V1 "cuda.guarded_stream.v1"

/* The graph of this point: nodes that are added to it depend on `dependencies` (valid until the next extension is asked
 * for), which is what was captured here so far; what is captured after join() depends on the nodes given to it.
 * Commands recorded later depend on every node without a successor. A function that is called on a stream gets a graph
 * too, which is launched on that stream when it returns, if it asks for the graph before the stream. */
#define BATON_CUDA_GRAPH_V1 "cuda.graph.v1"
typedef struct baton_cuda_graph {
  uint32_t struct_size;
  uint32_t dependency_count;
  void* graph;               /* CUgraph; NULL: nothing is run */
  void* const* dependencies; /* CUgraphNode */
  void* context;             /* CUcontext, current on this thread during the call */
  void* self;                /* for join */
  baton_status* (*join)(void* self, void* const* nodes, uint64_t node_count);
} baton_cuda_graph;

#endif
