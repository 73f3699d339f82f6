// Where host memory comes from. The tools pass mimalloc, a host app its own; the library replaces nothing in its host.
//
// The struct is baton_allocator of modules/sdk/host.h, byte for byte, so that one serves both sides of the door.
// Out of host memory is not an error to handle: allocate() aborts (STYLE.md 2.8).
// Threads: allocate and free must be callable from any thread.
#pragma once

#include <cstddef>

namespace baton {

struct Allocator {
  void* self;
  // Memory for `size` bytes aligned to `alignment` (a power of two), or null. Zeroed when `zeroed` is not 0.
  void* (*allocate_bytes)(void* self, size_t size, size_t alignment, int zeroed);
  void (*free_bytes)(void* self, void* memory);

  void* allocate(size_t size, size_t alignment = alignof(std::max_align_t)) const;
  void* allocate_zeroed(size_t size, size_t alignment = alignof(std::max_align_t)) const;
  void free(void* memory) const {
    if (memory) free_bytes(self, memory);
  }
};

// malloc and free of the process.
const Allocator& system_allocator();

}  // namespace baton
