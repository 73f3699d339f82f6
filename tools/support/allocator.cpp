#include "tools/support/allocator.hpp"

#ifdef BATON_TOOLS_MIMALLOC

#include <mimalloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace baton::tools {
namespace {

// mimalloc clears large memory by writing to it (1 GiB: 2.5 s), which no deadline can stop; fresh pages are zero. They
// lie behind a page that knows how many they are.
constexpr size_t kPagesFrom = size_t{1} << 20;
constexpr size_t kPage = 4096;

void* allocate_pages(size_t size) {
  if (size > PTRDIFF_MAX - kPage) return nullptr;
  void* const mapping = mmap(nullptr, kPage + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  *static_cast<size_t*>(mapping) = kPage + size;
  return static_cast<std::byte*>(mapping) + kPage;
}

void* allocate_bytes(void*, size_t size, size_t alignment, int zeroed) {
  if (zeroed && size >= kPagesFrom && alignment <= kPage) return allocate_pages(size);
  return zeroed ? mi_zalloc_aligned(size, alignment) : mi_malloc_aligned(size, alignment);
}
void free_bytes(void*, void* memory) {
  const bool may_be_pages = reinterpret_cast<uintptr_t>(memory) % kPage == 0;
  if (!may_be_pages || mi_is_in_heap_region(memory)) return mi_free(memory);
  void* const mapping = static_cast<std::byte*>(memory) - kPage;
  munmap(mapping, *static_cast<size_t*>(mapping));
}

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
