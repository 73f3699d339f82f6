// What memory a buffer wants, what it may be used for, and how a command touches it: sets of the bits in
// interface/numbers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hal/flags.hpp"
#include "hal/interface/numbers.hpp"

namespace baton::hal {

constexpr bool enable_flags(MemoryKind) { return true; }
constexpr bool enable_flags(BufferUsage) { return true; }
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
