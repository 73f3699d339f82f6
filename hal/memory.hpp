// What memory a buffer wants, what it may be used for, and how a command touches it.
#pragma once

#include <cstddef>
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

// kDiscard is for mappings: what the memory held is not wanted, and what the mapping leaves unwritten may be anything.
enum class Access : uint8_t { kNone = 0, kRead = 1, kWrite = 2, kReadWrite = 3, kDiscard = 4, kDiscardWrite = 6 };
constexpr bool enable_flags(Access) { return true; }

// Who can reach an address.
enum class MemorySpace : uint8_t {
  kNone,         // It is not told.
  kHost,         // The host.
  kCuda,         // CUDA's device `ordinal`.
  kCudaPinned,   // The host, and every CUDA device.
  kCudaManaged,  // The same; pages move between them.
};

// Memory as libraries hand it to each other: an address, and who can reach it.
struct MemoryLocation {
  MemorySpace space = MemorySpace::kNone;
  int32_t ordinal = 0;
  uint64_t address = 0;

  // Null where the host cannot reach it.
  std::byte* host() const {
    const bool reached =
        space == MemorySpace::kHost || space == MemorySpace::kCudaPinned || space == MemorySpace::kCudaManaged;
    return reached ? reinterpret_cast<std::byte*>(static_cast<uintptr_t>(address)) : nullptr;
  }
};

// "transfer_source|mapping", "none".
std::string usage_names(BufferUsage usage);
std::string memory_kind_names(MemoryKind memory);
// "read", "write", "read_write".
std::string_view access_name(Access access);
// "the host", "CUDA device 1".
std::string location_name(const MemoryLocation& location);

}  // namespace baton::hal
