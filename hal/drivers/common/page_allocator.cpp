#include "hal/drivers/common/page_allocator.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "base/sanitizers.hpp"

namespace baton::hal {
namespace {

// AddressSanitizer's own memory is fresh pages too, with guards around it.
constexpr bool kMapsPages = !BATON_ADDRESS_SANITIZER;

// Stands before all that is handed out.
struct alignas(alignof(std::max_align_t)) Head {
  size_t mapped_bytes;  // 0: memory of the system's allocator
};

void* hand_out(void* memory, size_t mapped_bytes) { return memory ? new (memory) Head{mapped_bytes} + 1 : nullptr; }

void* map_pages(size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void* allocate_bytes(void*, size_t size, size_t alignment, int zeroed) {
  if (alignment > alignof(Head) || size > PTRDIFF_MAX - sizeof(Head)) return nullptr;  // Buffers align by themselves.
  const size_t bytes = sizeof(Head) + size;
  if (kMapsPages && zeroed && size >= kFreshPagesFrom) return hand_out(map_pages(bytes), bytes);
  const baton::Allocator& system = system_allocator();
  return hand_out(system.allocate_bytes(system.self, bytes, alignof(Head), zeroed), 0);
}

void free_bytes(void*, void* memory) {
  Head* const head = static_cast<Head*>(memory) - 1;
  if (head->mapped_bytes) {
    munmap(head, head->mapped_bytes);
  } else {
    system_allocator().free(head);
  }
}

}  // namespace

const baton::Allocator& page_allocator() {
  static constexpr baton::Allocator allocator{nullptr, allocate_bytes, free_bytes};
  return allocator;
}

}  // namespace baton::hal
