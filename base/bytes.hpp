// Little-endian loads and stores that need no alignment, and ranges whose arithmetic cannot overflow.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace baton {

static_assert(std::endian::native == std::endian::little, "Baton's files and registers are little-endian in place.");

template <typename T>
T load_bytes(const void* source) {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

template <typename T>
void store_bytes(void* target, T value) {
  std::memcpy(target, &value, sizeof(T));
}

// True when [offset, offset + size) lies inside [0, limit), for any three numbers.
constexpr bool range_inside(uint64_t offset, uint64_t size, uint64_t limit) {
  return size <= limit && offset <= limit - size;
}

constexpr uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

}  // namespace baton
