// Blobs: one function per mnemonic. Each checks what the verifier cannot know: null, type, range, writable.
//
// Loads and stores take byte offsets of any alignment; get and put take element indices.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/bytes.hpp"
#include "vm/blob.hpp"
#include "vm/pace.hpp"
#include "vm/trap.hpp"

namespace baton::vm::ops {
namespace blobs {

inline TrapKind why_not_blob(Object* object) { return object ? TrapKind::kWrongType : TrapKind::kNullReference; }

// Where `width` bytes at byte `offset` are, or null when they are not inside.
inline std::byte* at_offset(const Blob& blob, int64_t offset, uint64_t width) {
  return range_inside(static_cast<uint64_t>(offset), width, blob.size) ? blob.data + offset : nullptr;
}

template <typename Element>
bool index_inside(const Blob& blob, int64_t index) {
  return static_cast<uint64_t>(index) < blob.size / sizeof(Element);
}
template <typename Element>
std::byte* at_index(const Blob& blob, int64_t index) {
  return blob.data + static_cast<uint64_t>(index) * sizeof(Element);
}

// Reads an Element and widens it to Out: zero- or sign-extended as Element says.
template <typename Element, typename Out>
TrapKind load(Out& out, Object* object, int64_t offset) {
  const Blob* blob = as_blob(object);
  if (!blob) [[unlikely]]
    return why_not_blob(object);
  const std::byte* place = at_offset(*blob, offset, sizeof(Element));
  if (!place) [[unlikely]]
    return TrapKind::kBlobRange;
  out = static_cast<Out>(load_bytes<Element>(place));
  return TrapKind::kNone;
}
template <typename Element, typename Out>
TrapKind get(Out& out, Object* object, int64_t index) {
  const Blob* blob = as_blob(object);
  if (!blob) [[unlikely]]
    return why_not_blob(object);
  if (!index_inside<Element>(*blob, index)) [[unlikely]]
    return TrapKind::kBlobRange;
  out = static_cast<Out>(load_bytes<Element>(at_index<Element>(*blob, index)));
  return TrapKind::kNone;
}

// Writes the low bits of `value`.
template <typename Element>
TrapKind store(uint64_t value, Object* object, int64_t offset) {
  const Blob* blob = as_blob(object);
  if (!blob) [[unlikely]]
    return why_not_blob(object);
  std::byte* place = at_offset(*blob, offset, sizeof(Element));
  if (!place) [[unlikely]]
    return TrapKind::kBlobRange;
  if (!blob->writable) [[unlikely]]
    return TrapKind::kBlobReadOnly;
  store_bytes(place, static_cast<Element>(value));
  return TrapKind::kNone;
}
template <typename Element>
TrapKind put(uint64_t value, Object* object, int64_t index) {
  const Blob* blob = as_blob(object);
  if (!blob) [[unlikely]]
    return why_not_blob(object);
  if (!index_inside<Element>(*blob, index)) [[unlikely]]
    return TrapKind::kBlobRange;
  if (!blob->writable) [[unlikely]]
    return TrapKind::kBlobReadOnly;
  store_bytes(at_index<Element>(*blob, index), static_cast<Element>(value));
  return TrapKind::kNone;
}

template <typename Element>
TrapKind fill(Object* object, int64_t offset, int64_t size, Element pattern, Pace& pace) {
  const Blob* blob = as_blob(object);
  if (!blob) [[unlikely]]
    return why_not_blob(object);
  std::byte* place = at_offset(*blob, offset, static_cast<uint64_t>(size));
  if (!place) [[unlikely]]
    return TrapKind::kBlobRange;
  if (!blob->writable) [[unlikely]]
    return TrapKind::kBlobReadOnly;
  if (static_cast<uint64_t>(size) % sizeof(Element) != 0) [[unlikely]]
    return TrapKind::kFillSize;
  return pace.in_stretches(static_cast<uint64_t>(size), [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; i += sizeof(Element)) store_bytes(place + i, pattern);
  });
}

}  // namespace blobs

// Clearing is the allocator's, in one piece: it knows which pages are zero.
inline TrapKind blob_alloc(Object*& out, int64_t size, Pace& pace) {
  if (const TrapKind trap = pace.spend(static_cast<uint64_t>(size)); trap != TrapKind::kNone) [[unlikely]]
    return trap;
  out = Blob::make(static_cast<uint64_t>(size), pace.allocator()).detach();
  return out ? TrapKind::kNone : TrapKind::kTooLarge;
}

inline TrapKind blob_clone(Object*& out, Object* source, int64_t offset, int64_t size, Pace& pace) {
  const Blob* blob = as_blob(source);
  if (!blob) [[unlikely]]
    return blobs::why_not_blob(source);
  const std::byte* place = blobs::at_offset(*blob, offset, static_cast<uint64_t>(size));
  if (!place) [[unlikely]]
    return TrapKind::kBlobRange;
  Ref<Blob> clone = Blob::make(static_cast<uint64_t>(size), pace.allocator());
  if (!clone) [[unlikely]]
    return TrapKind::kTooLarge;
  const TrapKind trap = pace.in_stretches(static_cast<uint64_t>(size), [&](uint64_t begin, uint64_t end) {
    std::memcpy(clone->data + begin, place + begin, end - begin);
  });
  if (trap == TrapKind::kNone) [[likely]]
    out = clone.detach();
  return trap;
}

inline TrapKind blob_size(int64_t& out, Object* object) {
  const Blob* blob = as_blob(object);
  if (!blob) [[unlikely]]
    return blobs::why_not_blob(object);
  out = static_cast<int64_t>(blob->size);
  return TrapKind::kNone;
}

inline TrapKind blob_compare(int32_t& out, Object* lhs, int64_t lhs_offset, Object* rhs, int64_t rhs_offset,
                             int64_t size, Pace& pace) {
  const Blob* left = as_blob(lhs);
  const Blob* right = as_blob(rhs);
  if (!left || !right) [[unlikely]]
    return blobs::why_not_blob(left ? rhs : lhs);
  const std::byte* left_place = blobs::at_offset(*left, lhs_offset, static_cast<uint64_t>(size));
  const std::byte* right_place = blobs::at_offset(*right, rhs_offset, static_cast<uint64_t>(size));
  if (!left_place || !right_place) [[unlikely]]
    return TrapKind::kBlobRange;
  int order = 0;
  const TrapKind trap = pace.in_stretches(static_cast<uint64_t>(size), [&](uint64_t begin, uint64_t end) {
    if (order == 0) order = std::memcmp(left_place + begin, right_place + begin, end - begin);
  });
  out = order < 0 ? -1 : order > 0 ? 1 : 0;
  return trap;
}

inline TrapKind blob_copy(Object* source, int64_t source_offset, Object* target, int64_t target_offset, int64_t size,
                          Pace& pace) {
  const Blob* from = as_blob(source);
  const Blob* to = as_blob(target);
  if (!from || !to) [[unlikely]]
    return blobs::why_not_blob(from ? target : source);
  const std::byte* source_place = blobs::at_offset(*from, source_offset, static_cast<uint64_t>(size));
  std::byte* target_place = blobs::at_offset(*to, target_offset, static_cast<uint64_t>(size));
  if (!source_place || !target_place) [[unlikely]]
    return TrapKind::kBlobRange;
  if (!to->writable) [[unlikely]]
    return TrapKind::kBlobReadOnly;
  const auto move = [&](uint64_t begin, uint64_t end) {
    std::memmove(target_place + begin, source_place + begin, end - begin);
  };
  const auto bytes = static_cast<uint64_t>(size);
  const bool moves_up = reinterpret_cast<uintptr_t>(source_place) < reinterpret_cast<uintptr_t>(target_place);
  return moves_up ? pace.in_stretches_from_end(bytes, move) : pace.in_stretches(bytes, move);
}

inline TrapKind blob_fill_i8(Object* blob, int64_t offset, int64_t size, int32_t pattern, Pace& pace) {
  return blobs::fill(blob, offset, size, static_cast<uint8_t>(pattern), pace);
}
inline TrapKind blob_fill_i16(Object* blob, int64_t offset, int64_t size, int32_t pattern, Pace& pace) {
  return blobs::fill(blob, offset, size, static_cast<uint16_t>(pattern), pace);
}
inline TrapKind blob_fill_i32(Object* blob, int64_t offset, int64_t size, int32_t pattern, Pace& pace) {
  return blobs::fill(blob, offset, size, pattern, pace);
}
inline TrapKind blob_fill_i64(Object* blob, int64_t offset, int64_t size, int64_t pattern, Pace& pace) {
  return blobs::fill(blob, offset, size, pattern, pace);
}

// FNV-1a: the same on every machine, which programs may rely on.
inline TrapKind blob_hash(int64_t& out, Object* object, int64_t offset, int64_t size, Pace& pace) {
  const Blob* blob = as_blob(object);
  if (!blob) [[unlikely]]
    return blobs::why_not_blob(object);
  const std::byte* place = blobs::at_offset(*blob, offset, static_cast<uint64_t>(size));
  if (!place) [[unlikely]]
    return TrapKind::kBlobRange;
  uint64_t hash = 0xcbf29ce484222325u;
  const TrapKind trap = pace.in_stretches(static_cast<uint64_t>(size), [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) hash = (hash ^ static_cast<uint8_t>(place[i])) * 0x100000001b3u;
  });
  out = static_cast<int64_t>(hash);
  return trap;
}

// f32 and f64 are moved as bits by the i32 and i64 forms.
#define BATON_BLOB_READS(verb)                                                  \
  inline TrapKind blob_##verb##_i8_u(int32_t& out, Object* blob, int64_t at) {  \
    return blobs::verb<uint8_t>(out, blob, at);                                 \
  }                                                                             \
  inline TrapKind blob_##verb##_i8_s(int32_t& out, Object* blob, int64_t at) {  \
    return blobs::verb<int8_t>(out, blob, at);                                  \
  }                                                                             \
  inline TrapKind blob_##verb##_i16_u(int32_t& out, Object* blob, int64_t at) { \
    return blobs::verb<uint16_t>(out, blob, at);                                \
  }                                                                             \
  inline TrapKind blob_##verb##_i16_s(int32_t& out, Object* blob, int64_t at) { \
    return blobs::verb<int16_t>(out, blob, at);                                 \
  }                                                                             \
  inline TrapKind blob_##verb##_i32(uint64_t& out, Object* blob, int64_t at) {  \
    return blobs::verb<uint32_t>(out, blob, at);                                \
  }                                                                             \
  inline TrapKind blob_##verb##_i64(uint64_t& out, Object* blob, int64_t at) {  \
    return blobs::verb<uint64_t>(out, blob, at);                                \
  }
#define BATON_BLOB_WRITES(verb)                                                 \
  inline TrapKind blob_##verb##_i8(uint64_t value, Object* blob, int64_t at) {  \
    return blobs::verb<uint8_t>(value, blob, at);                               \
  }                                                                             \
  inline TrapKind blob_##verb##_i16(uint64_t value, Object* blob, int64_t at) { \
    return blobs::verb<uint16_t>(value, blob, at);                              \
  }                                                                             \
  inline TrapKind blob_##verb##_i32(uint64_t value, Object* blob, int64_t at) { \
    return blobs::verb<uint32_t>(value, blob, at);                              \
  }                                                                             \
  inline TrapKind blob_##verb##_i64(uint64_t value, Object* blob, int64_t at) { \
    return blobs::verb<uint64_t>(value, blob, at);                              \
  }

BATON_BLOB_READS(load)
BATON_BLOB_READS(get)
BATON_BLOB_WRITES(store)
BATON_BLOB_WRITES(put)
#undef BATON_BLOB_READS
#undef BATON_BLOB_WRITES

}  // namespace baton::vm::ops
