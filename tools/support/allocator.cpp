#include "tools/support/allocator.hpp"

#ifdef BATON_TOOLS_MIMALLOC

#include <mimalloc.h>

namespace baton::tools {
namespace {

void* allocate_bytes(void*, size_t size, size_t alignment, int zeroed) {
  return zeroed ? mi_zalloc_aligned(size, alignment) : mi_malloc_aligned(size, alignment);
}
void free_bytes(void*, void* memory) { mi_free(memory); }

}  // namespace

const Allocator& tool_allocator() {
  static const Allocator allocator{nullptr, allocate_bytes, free_bytes};
  return allocator;
}

}  // namespace baton::tools

#else  // Sanitizers bring their own malloc.

namespace baton::tools {

const Allocator& tool_allocator() { return system_allocator(); }

}  // namespace baton::tools

#endif
