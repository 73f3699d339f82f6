// CUPTI's entries, opened at run time, and what of its records is read. Its headers are not always where CUDA's are, and
// records only ever grew at their end, so the few fields stand here by their offsets; a test compares them with the
// headers where those are found.
//
// A plain struct of function pointers, so that a test can fill it with recorders.
// Threads: immutable.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "base/result.hpp"

namespace baton::hal::drivers::cuda {

using CuptiResult = int;  // 0: success.
using CuptiSubscriber = void*;

struct CuptiSymbols {
  using Callback = void (*)(void* self, uint32_t domain, uint32_t what, const void* data);
  using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* records_max);
  using BufferCompleted = void (*)(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid_size);

  CuptiResult (*cuptiSubscribe)(CuptiSubscriber* subscriber, Callback callback, void* self);
  CuptiResult (*cuptiUnsubscribe)(CuptiSubscriber subscriber);
  CuptiResult (*cuptiEnableCallback)(uint32_t enable, CuptiSubscriber subscriber, uint32_t domain, uint32_t what);
  CuptiResult (*cuptiGetGraphNodeId)(CUgraphNode node, uint64_t* id);
  CuptiResult (*cuptiActivityEnable)(uint32_t kind);
  CuptiResult (*cuptiActivityDisable)(uint32_t kind);
  CuptiResult (*cuptiActivityRegisterCallbacks)(BufferRequested requested, BufferCompleted completed);
  CuptiResult (*cuptiActivityRegisterTimestampCallback)(uint64_t (*clock)());
  CuptiResult (*cuptiActivityGetNextRecord)(uint8_t* buffer, size_t valid_size, uint8_t** record);
  CuptiResult (*cuptiActivityFlushAll)(uint32_t flags);
  CuptiResult (*cuptiActivityPushExternalCorrelationId)(uint32_t kind, uint64_t id);
  CuptiResult (*cuptiActivityPopExternalCorrelationId)(uint32_t kind, uint64_t* id);
};

// UNAVAILABLE, with the reason, where there is none or it is too old.
Result<std::shared_ptr<const CuptiSymbols>> load_cupti();

namespace cupti {

enum Kind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriverCall = 4,
  kRuntimeCall = 5,
  kConcurrentKernel = 10,
  kExternalCorrelation = 39
};
inline constexpr uint32_t kResourceDomain = 3;
inline constexpr uint32_t kGraphNodeCreated = 13, kGraphNodeCloned = 20;
inline constexpr uint32_t kExternalKind = 3;  // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
inline constexpr uint32_t kFlushForced = 1;

// Where the fields of a record of this kind stand, in bytes.
struct Layout {
  uint32_t start, end, device, stream, correlation, graph_node, name;
};
inline constexpr Layout kKernelLayout = {16, 24, 40, 48, 92, 144, 104};
inline constexpr Layout kTransferLayout = {16, 24, 32, 40, 44, 64, 0};  // Copies and fills; they have no name.
inline constexpr uint32_t kExternalIdOffset = 8, kExternalCorrelationOffset = 16;
inline constexpr uint32_t kResourceDescriptorOffset = 16;              // In CUpti_ResourceData,
inline constexpr uint32_t kNodeOffset = 16, kOriginalNodeOffset = 24;  // in what it points to.

}  // namespace cupti

}  // namespace baton::hal::drivers::cuda
