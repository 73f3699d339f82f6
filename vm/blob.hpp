// Blob: host bytes that programs read and write. Rodata blobs lie in the module's file and live as long as the module.
// Threads: externally synchronized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/allocator.hpp"
#include "vm/object.hpp"

namespace baton::vm {

struct Blob : Object {
  static const ObjectType kType;  // "blob"

  // Zeroed bytes in one allocation with the head. Null when `size` cannot be had.
  static Ref<Blob> make(uint64_t size, const Allocator& allocator = system_allocator());
  // Over memory of the caller; release_memory(release_data) gives it back with the last reference, and may be null.
  static Ref<Blob> wrap(void* data, uint64_t size, bool writable, void (*release_memory)(void*), void* release_data);

  // A view inside a larger allocation, which release_memory gives back: rodata (bytecode_module.cpp).
  Blob(std::byte* memory, uint64_t size_bytes, bool is_writable)
      : Object(&kType), data(memory), size(size_bytes), writable(is_writable) {}

  std::span<std::byte> bytes() const { return {data, size}; }

  std::byte* data;
  uint64_t size;
  bool writable;
  void (*release_memory)(void*) = nullptr;
  void* release_data = nullptr;
  Allocator allocator{};  // of the head; unset when it lies inside a larger allocation
};

// The blob that `object` is, or null when it is null or something else.
inline Blob* as_blob(Object* object) {
  return object && object->type == &Blob::kType ? static_cast<Blob*>(object) : nullptr;
}

}  // namespace baton::vm
