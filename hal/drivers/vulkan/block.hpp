// Slab and Block: memory of the device that a VkBuffer lies over, and a part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hal/drivers/vulkan/context.hpp"
#include "hal/drivers/vulkan/memory_ranges.hpp"
#include "hal/memory_owner.hpp"

namespace baton::hal::drivers::vulkan {

struct Slab {
  uint64_t id = 0;  // No two slabs of a process ever have the same.
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t address = 0;
  std::byte* host = nullptr;  // Null: the host cannot see it.
  bool host_cached = false;   // The host reads it fast.
  uint64_t length = 0;
  uint32_t type = 0;
  bool imported = false;                           // Its pages are the host's.
  std::unique_ptr<MemoryRanges> ranges = nullptr;  // Null: the slab is one block.
};

// Part of a slab. A plain value: who takes one gives it back.
struct Block {
  Slab* slab = nullptr;
  uint64_t offset = 0;
  uint64_t length = 0;                    // At least what was asked for.
  uint64_t owner = MemoryOwner::kNobody;  // Who may find in it what it holds.

  uint64_t address() const { return slab->address + offset; }
  std::byte* host() const { return slab->host ? slab->host + offset : nullptr; }
};

}  // namespace baton::hal::drivers::vulkan
