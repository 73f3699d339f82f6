// Lists: one function per mnemonic. Each checks what the verifier cannot know: null, type, index, element type.
#pragma once

#include <cstdint>

#include "vm/list.hpp"
#include "vm/pace.hpp"
#include "vm/trap.hpp"

namespace baton::vm::ops {
namespace lists {

inline TrapKind why_not_list(Object* object) { return object ? TrapKind::kWrongType : TrapKind::kNullReference; }

inline TrapKind get(Value& out, Object* object, int64_t index, ValueType type) {
  const List* list = as_list(object);
  if (!list) [[unlikely]]
    return why_not_list(object);
  if (static_cast<uint64_t>(index) >= list->size()) [[unlikely]]
    return TrapKind::kListRange;
  const List::Element& element = list->elements[static_cast<size_t>(index)];
  if (element.type != type) [[unlikely]]
    return TrapKind::kElementType;
  out = element.value;
  return TrapKind::kNone;
}

inline TrapKind set(Object* object, int64_t index, ValueType type, Value value) {
  List* list = as_list(object);
  if (!list) [[unlikely]]
    return why_not_list(object);
  if (static_cast<uint64_t>(index) >= list->size()) [[unlikely]]
    return TrapKind::kListRange;
  list->set(static_cast<uint64_t>(index), type, value);
  return TrapKind::kNone;
}

inline TrapKind push(Object* object, ValueType type, Value value, Pace& pace) {
  List* list = as_list(object);
  if (!list) [[unlikely]]
    return why_not_list(object);
  if (list->is_full()) [[unlikely]] {
    if (const TrapKind trap = list->reserve(list->next_capacity(), pace); trap != TrapKind::kNone) return trap;
  }
  list->push(type, value);
  return TrapKind::kNone;
}

}  // namespace lists

// A negative capacity or size is, unsigned, more than any list may have.
inline TrapKind list_alloc(Object*& out, int64_t capacity, Pace& pace) {
  out = List::make(static_cast<uint64_t>(capacity), pace.allocator()).detach();
  return out ? TrapKind::kNone : TrapKind::kTooLarge;
}

inline TrapKind list_reserve(Object* object, int64_t capacity, Pace& pace) {
  List* list = as_list(object);
  if (!list) [[unlikely]]
    return lists::why_not_list(object);
  return list->reserve(static_cast<uint64_t>(capacity), pace);
}

inline TrapKind list_size(int64_t& out, Object* object) {
  const List* list = as_list(object);
  if (!list) [[unlikely]]
    return lists::why_not_list(object);
  out = static_cast<int64_t>(list->size());
  return TrapKind::kNone;
}

inline TrapKind list_resize(Object* object, int64_t size, Pace& pace) {
  List* list = as_list(object);
  if (!list) [[unlikely]]
    return lists::why_not_list(object);
  return list->resize(static_cast<uint64_t>(size), pace);
}

#define BATON_LIST_OPS(T, suffix, type)                                     \
  inline TrapKind list_get_##suffix(T& out, Object* list, int64_t index) {  \
    Value value;                                                            \
    const TrapKind trap = lists::get(value, list, index, type);             \
    out = value.as<T>();                                                    \
    return trap;                                                            \
  }                                                                         \
  inline TrapKind list_set_##suffix(Object* list, int64_t index, T value) { \
    return lists::set(list, index, type, Value::of(value));                 \
  }                                                                         \
  inline TrapKind list_push_##suffix(Object* list, T value, Pace& pace) {   \
    return lists::push(list, type, Value::of(value), pace);                 \
  }

BATON_LIST_OPS(int32_t, i32, ValueType::kI32)
BATON_LIST_OPS(int64_t, i64, ValueType::kI64)
BATON_LIST_OPS(float, f32, ValueType::kF32)
BATON_LIST_OPS(double, f64, ValueType::kF64)
#undef BATON_LIST_OPS

inline TrapKind list_get_ref(Object*& out, Object* list, int64_t index) {
  Value value;
  const TrapKind trap = lists::get(value, list, index, ValueType::kRef);
  retain_object(value.ref);
  out = value.ref;
  return trap;
}
inline TrapKind list_set_ref(Object* list, int64_t index, Object* reference) {
  return lists::set(list, index, ValueType::kRef, Value::of(reference));
}
inline TrapKind list_push_ref(Object* list, Object* reference, Pace& pace) {
  return lists::push(list, ValueType::kRef, Value::of(reference), pace);
}

}  // namespace baton::vm::ops
