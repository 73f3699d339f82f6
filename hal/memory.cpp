#include "hal/memory.hpp"

#include <span>
#include <utility>

#include "base/text.hpp"

namespace baton::hal {
namespace {

template <typename E>
std::string join_names(E flags, std::span<const std::pair<E, std::string_view>> names) {
  std::string result;
  for (const auto& [flag, name] : names) {
    if (has_all(flags, flag)) result += text(result.empty() ? "" : "|", name);
  }
  return result.empty() ? "none" : result;
}

}  // namespace

std::string usage_names(BufferUsage usage) {
  static constexpr std::pair<BufferUsage, std::string_view> names[] = {
      {BufferUsage::kTransferSource, "transfer_source"},
      {BufferUsage::kTransferTarget, "transfer_target"},
      {BufferUsage::kDispatchRead, "dispatch_read"},
      {BufferUsage::kDispatchWrite, "dispatch_write"},
      {BufferUsage::kIndirectGrid, "indirect_grid"},
      {BufferUsage::kMapping, "mapping"},
      {BufferUsage::kConstant, "constant"},
  };
  return join_names<BufferUsage>(usage, names);
}

std::string memory_kind_names(MemoryKind memory) {
  static constexpr std::pair<MemoryKind, std::string_view> names[] = {
      {MemoryKind::kDeviceLocal, "device_local"},
      {MemoryKind::kHostVisible, "host_visible"},
      {MemoryKind::kHostCached, "host_cached"},
  };
  return join_names<MemoryKind>(memory, names);
}

std::string_view access_name(Access access) {
  switch (access) {
    case Access::kNone: return "none";
    case Access::kRead: return "read";
    case Access::kWrite: return "write";
    case Access::kReadWrite: return "read_write";
    case Access::kDiscard: return "discard";
    case Access::kDiscardWrite: return "discard_write";
  }
  return "none";
}

std::string location_name(const MemoryLocation& location) {
  switch (location.space) {
    case MemorySpace::kNone: return "a device that does not tell its addresses";
    case MemorySpace::kHost: return "the host";
    case MemorySpace::kCuda: return text("CUDA device ", location.ordinal);
    case MemorySpace::kCudaPinned: return "the host, pinned for CUDA";
    case MemorySpace::kCudaManaged: return text("CUDA device ", location.ordinal, ", managed");
  }
  return "none";
}

}  // namespace baton::hal
