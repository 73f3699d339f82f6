// List: a growable sequence of values, each with its type. Retains the references it holds.
//
// References are counted, so lists that hold each other in a ring live on: whoever builds a ring must break it.
// Threads: externally synchronized.
#pragma once

#include <cstdint>

#include "base/allocator.hpp"
#include "vm/object.hpp"
#include "vm/value.hpp"

namespace baton::vm {

struct List : Object {
  static const ObjectType kType;  // "list"

  struct Element {
    ValueType type = ValueType::kI32;
    Value value;
  };
  // More cannot be had, whatever the allocator says: sizes in bytes stay far from overflow.
  static constexpr uint64_t kElementsMax = uint64_t{1} << 32;

  // Null when room for `capacity` elements cannot be had; so false from reserve, resize and push, which then change
  // nothing.
  static Ref<List> make(uint64_t capacity = 0, const Allocator& allocator = system_allocator());

  uint64_t size() const { return size_; }
  // A `value` that is a reference is borrowed, and retained.
  bool push(ValueType element_type, Value value);
  void set(uint64_t index, ValueType element_type, Value value);  // index < size()
  bool reserve(uint64_t capacity);
  bool resize(uint64_t size);  // new elements are i32 zeros

  Element* elements = nullptr;

 private:
  explicit List(const Allocator& allocator) : Object(&kType), allocator_(allocator) {}
  ~List() = default;
  static void destroy(Object* object);

  uint64_t size_ = 0;
  uint64_t capacity_ = 0;
  List* next_dead_ = nullptr;  // destroy()
  Allocator allocator_;
};

inline List* as_list(Object* object) {
  return object && object->type == &List::kType ? static_cast<List*>(object) : nullptr;
}

}  // namespace baton::vm
