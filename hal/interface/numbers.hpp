// The numbers that programs carry and devices understand. The compiler writes them, hal reads them; nothing else of hal
// crosses that border, so this header includes no other of the house.
//
// Numbers never change: programs that exist hold them.
#pragma once

#include <cstdint>

namespace baton::hal {

enum class MemoryKind : uint32_t {
  kNone = 0,
  kDeviceLocal = 1,  // Fast for the device.
  kHostVisible = 2,  // Can be mapped.
  kHostCached = 4,   // Fast for the host to read.
};

enum class BufferUsage : uint32_t {
  kNone = 0,
  kTransferSource = 1,
  kTransferTarget = 2,
  kDispatchRead = 4,
  kDispatchWrite = 8,
  kIndirectGrid = 16,  // dispatch_indirect may read its grid from it.
  kMapping = 32,
  kConstant = 64,  // The contents never change: it is only mapped, and bound to host calls, for reading.
  kTransfer = kTransferSource | kTransferTarget,
  kDispatch = kDispatchRead | kDispatchWrite,
  kAll = kTransfer | kDispatch | kIndirectGrid | kMapping,
};

// kDiscard is for mappings: what the memory held is not wanted, and what the mapping leaves unwritten may be anything.
enum class Access : uint8_t { kNone = 0, kRead = 1, kWrite = 2, kReadWrite = 3, kDiscard = 4, kDiscardWrite = 6 };

// A resource's slot says in these bits how a dispatch uses the memory: 0 (open), kRead, kWrite or kReadWrite.
inline constexpr int kSlotAccessShift = 32;

// What an element is; ElementType is this << 8 | bits.
enum class ElementClass : uint8_t { kNone, kInteger, kSigned, kUnsigned, kFloat, kBrainFloat, kComplex };

constexpr uint32_t element_type_number(ElementClass of_class, uint32_t bits) {
  return static_cast<uint32_t>(of_class) << 8 | bits;
}

// What the ranks of a channel do together (hal/commands/collective.hpp).
enum class CollectiveOperation : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kSend,
  kReceive,
  kPermute,
};
inline constexpr uint32_t kCollectiveOperationCount = 9;
enum class Reduction : uint8_t { kNone, kSum, kProduct, kMinimum, kMaximum, kAverage };
inline constexpr uint32_t kReductionCount = 6;

// In the place of a rank: none.
inline constexpr uint32_t kNoRank = 0xffffffff;

// What a workgroup may have of local memory on devices that work in host memory.
inline constexpr uint32_t kLocalMemoryBytesMax = 256 * 1024;
// Of one dispatch.
inline constexpr uint32_t kDispatchBindingsMax = 64, kDispatchConstantsMax = 64;

}  // namespace baton::hal
