#include "vm/blob.hpp"

#include <new>

#include "base/bytes.hpp"

namespace baton::vm {
namespace {

void destroy(Object* object) {
  auto* blob = static_cast<Blob*>(object);
  void (*const release_memory)(void*) = blob->release_memory;
  void* const release_data = blob->release_data;
  const Allocator allocator = blob->allocator;
  blob->~Blob();
  if (allocator.free_bytes) allocator.free(blob);
  if (release_memory) release_memory(release_data);  // Last: it may hold the memory of the blob itself.
}

// Bytes follow the head at an alignment that serves vector loads. It is made here and not asked of the allocator, which
// would have to clear aligned memory by hand: so a large blob costs what the program touches of it.
constexpr size_t kBytesAlignment = 64;
constexpr size_t kOverhead = sizeof(Blob) + kBytesAlignment - 1;

}  // namespace

const ObjectType Blob::kType = {.name = "blob", .destroy = destroy};

Ref<Blob> Blob::make(uint64_t size, const Allocator& allocator) {
  if (size > PTRDIFF_MAX - kOverhead) return nullptr;
  // Straight to the function: a program may ask for more than there is, and gets a trap for it.
  void* memory = allocator.allocate_bytes(allocator.self, kOverhead + size, alignof(std::max_align_t), /*zeroed=*/1);
  if (!memory) return nullptr;
  const auto bytes = align_up(reinterpret_cast<uintptr_t>(memory) + sizeof(Blob), kBytesAlignment);
  auto* blob = new (memory) Blob(reinterpret_cast<std::byte*>(bytes), size, /*is_writable=*/true);
  blob->allocator = allocator;
  return Ref<Blob>::adopt(blob);
}

Ref<Blob> Blob::wrap(void* data, uint64_t size, bool writable, void (*release_memory)(void*), void* release_data) {
  const Allocator& allocator = system_allocator();
  auto* blob = new (allocator.allocate(sizeof(Blob))) Blob(static_cast<std::byte*>(data), size, writable);
  blob->allocator = allocator;
  blob->release_memory = release_memory;
  blob->release_data = release_data;
  return Ref<Blob>::adopt(blob);
}

}  // namespace baton::vm
