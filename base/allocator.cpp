#include "base/allocator.hpp"

#include <cstdlib>
#include <cstring>

#include "base/check.hpp"

namespace baton {
namespace {

void* allocate_from_system(void*, size_t size, size_t alignment, int zeroed) {
  // calloc hands out fresh pages without touching them: stacks cost what they use, not what they may use.
  if (alignment <= alignof(std::max_align_t)) return zeroed ? std::calloc(1, size) : std::malloc(size);
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
  if (memory && zeroed) std::memset(memory, 0, size);
  return memory;
}

void free_to_system(void*, void* memory) { std::free(memory); }

}  // namespace

void* Allocator::allocate(size_t size, size_t alignment) const {
  void* memory = allocate_bytes(self, size ? size : 1, alignment, 0);
  BATON_CHECK(memory && "out of host memory");
  return memory;
}

void* Allocator::allocate_zeroed(size_t size, size_t alignment) const {
  void* memory = allocate_bytes(self, size ? size : 1, alignment, 1);
  BATON_CHECK(memory && "out of host memory");
  return memory;
}

const Allocator& system_allocator() {
  static constexpr Allocator allocator{nullptr, allocate_from_system, free_to_system};
  return allocator;
}

}  // namespace baton
