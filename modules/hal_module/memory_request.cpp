#include "modules/hal_module/memory_request.hpp"

namespace baton::modules {

Result<hal::AllocationRequest> memory_request(uint32_t memory, uint32_t usage, int64_t length) {
  constexpr uint32_t kMemoryBits =
      to_bits(hal::MemoryKind::kDeviceLocal | hal::MemoryKind::kHostVisible | hal::MemoryKind::kHostCached);
  constexpr uint32_t kUsageBits = to_bits(hal::BufferUsage::kAll);
  if (memory & ~kMemoryBits) {
    return failure(StatusCode::kInvalidArgument, "Memory kind ", memory, " has bits outside the known ones (",
                   kMemoryBits, ").");
  }
  if (usage & ~kUsageBits) {
    return failure(StatusCode::kInvalidArgument, "Buffer usage ", usage, " has bits outside the known ones (",
                   kUsageBits, ").");
  }
  if (length < 0) return failure(StatusCode::kInvalidArgument, "A buffer of ", length, " bytes is asked for.");
  return hal::AllocationRequest{static_cast<uint64_t>(length), static_cast<hal::MemoryKind>(memory),
                                static_cast<hal::BufferUsage>(usage)};
}

}  // namespace baton::modules
