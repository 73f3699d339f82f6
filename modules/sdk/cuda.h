/* What a recording on a CUDA device has besides: structs for baton_recording_table.extension. Frozen: append only.
 * Handles are void* so that this header needs none of CUDA's. */
#ifndef BATON_MODULES_SDK_CUDA_H_
#define BATON_MODULES_SDK_CUDA_H_

#include <stdint.h>

#include "modules/sdk/status.h"

/* The stream that runs, or captures, at this point of the recording, until the command's function returns. Work that a
 * library launches on it is ordered as a command recorded here would be. */
#define BATON_CUDA_STREAM_V1 "cuda.stream.v1"
typedef struct baton_cuda_stream {
  uint32_t struct_size;
  uint32_t capturing; /* 1: into a graph; synchronising and allocating on it would break the capture */
  void* stream;       /* CUstream */
  void* context;      /* CUcontext, current on this thread during the call */
} baton_cuda_stream;

/* The graph that is being built: nodes that are added to it depend on `dependencies`; what is recorded later depends on
 * the nodes that are given to join(). */
#define BATON_CUDA_GRAPH_V1 "cuda.graph.v1"
typedef struct baton_cuda_graph {
  uint32_t struct_size;
  uint32_t dependency_count;
  void* graph;               /* CUgraph */
  void* const* dependencies; /* CUgraphNode */
  void* context;             /* CUcontext, current on this thread during the call */
  void* self;                /* for join */
  baton_status* (*join)(void* self, void* const* nodes, uint64_t node_count);
} baton_cuda_graph;

#endif
