// Where the fields of CUPTI's records stand, compared with its headers where they are.
#include "hal/drivers/cuda/cupti.hpp"

#include <gtest/gtest.h>

#if __has_include(<cupti_activity.h>) && __has_include(<cupti_callbacks.h>)
#include <cupti_activity.h>
#include <cupti_callbacks.h>

#include <cstddef>

namespace baton::hal::drivers::cuda {

#define AT(Struct, member, offset) static_assert(offsetof(Struct, member) == (offset))
AT(CUpti_ActivityKernel9, start, cupti::kKernelLayout.start);
AT(CUpti_ActivityKernel9, end, cupti::kKernelLayout.end);
AT(CUpti_ActivityKernel9, deviceId, cupti::kKernelLayout.device);
AT(CUpti_ActivityKernel9, streamId, cupti::kKernelLayout.stream);
AT(CUpti_ActivityKernel9, correlationId, cupti::kKernelLayout.correlation);
AT(CUpti_ActivityKernel9, graphNodeId, cupti::kKernelLayout.graph_node);
AT(CUpti_ActivityKernel9, name, cupti::kKernelLayout.name);
AT(CUpti_ActivityMemcpy5, start, cupti::kTransferLayout.start);
AT(CUpti_ActivityMemcpy5, end, cupti::kTransferLayout.end);
AT(CUpti_ActivityMemcpy5, deviceId, cupti::kTransferLayout.device);
AT(CUpti_ActivityMemcpy5, streamId, cupti::kTransferLayout.stream);
AT(CUpti_ActivityMemcpy5, correlationId, cupti::kTransferLayout.correlation);
AT(CUpti_ActivityMemcpy5, graphNodeId, cupti::kTransferLayout.graph_node);
AT(CUpti_ActivityMemset4, start, cupti::kTransferLayout.start);
AT(CUpti_ActivityMemset4, deviceId, cupti::kTransferLayout.device);
AT(CUpti_ActivityMemset4, streamId, cupti::kTransferLayout.stream);
AT(CUpti_ActivityMemset4, correlationId, cupti::kTransferLayout.correlation);
AT(CUpti_ActivityMemset4, graphNodeId, cupti::kTransferLayout.graph_node);
AT(CUpti_ActivityExternalCorrelation, externalId, cupti::kExternalIdOffset);
AT(CUpti_ActivityExternalCorrelation, correlationId, cupti::kExternalCorrelationOffset);
AT(CUpti_ResourceData, resourceDescriptor, cupti::kResourceDescriptorOffset);
AT(CUpti_GraphData, node, cupti::kNodeOffset);
AT(CUpti_GraphData, originalNode, cupti::kOriginalNodeOffset);
#undef AT
static_assert(CUPTI_ACTIVITY_KIND_MEMCPY == int{cupti::kMemcpy});
static_assert(CUPTI_ACTIVITY_KIND_MEMSET == int{cupti::kMemset});
static_assert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == int{cupti::kConcurrentKernel});
static_assert(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION == int{cupti::kExternalCorrelation});
static_assert(CUPTI_CB_DOMAIN_RESOURCE == int{cupti::kResourceDomain});
static_assert(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED == int{cupti::kGraphNodeCreated});
static_assert(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED == int{cupti::kGraphNodeCloned});
static_assert(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 == int{cupti::kExternalKind});

}  // namespace baton::hal::drivers::cuda
#define BATON_HAS_CUPTI_HEADERS 1
#endif

namespace {

TEST(CuptiTest, RecordsAreWhatTheHeadersSay) {
#ifndef BATON_HAS_CUPTI_HEADERS
  GTEST_SKIP() << "skipped: CUPTI's headers are not beside CUDA's";
#endif
}

}  // namespace
