// What memory a buffer wants, what it may be used for, and how a command touches it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hal/flags.hpp"

namespace baton::hal {

enum class MemoryKind : uint32_t {
  kNone = 0,
  kDeviceLocal = 1,  // Fast for the device.
  kHostVisible = 2,  // Can be mapped.
  kHostCached = 4,   // Fast for the host to read.
};
constexpr bool enable_flags(MemoryKind) { return true; }

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
constexpr bool enable_flags(BufferUsage) { return true; }

enum class Access : uint8_t { kNone = 0, kRead = 1, kWrite = 2, kReadWrite = 3 };
constexpr bool enable_flags(Access) { return true; }

// "transfer_source|mapping", "none".
std::string usage_names(BufferUsage usage);
std::string memory_kind_names(MemoryKind memory);
// "read", "write", "read_write".
std::string_view access_name(Access access);

}  // namespace baton::hal
