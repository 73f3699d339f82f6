// List: a growable sequence of values, each with its type. Retains the references it holds.
//
// References are counted, so lists that hold each other in a ring live on: the program that builds a ring must break
// it.
// Threads: externally synchronized.
#pragma once

#include <cstdint>

#include "base/allocator.hpp"
#include "vm/object.hpp"
#include "vm/value.hpp"

namespace baton::vm {

class Pace;
enum class TrapKind : uint8_t;

struct List : Object {
  static const ObjectType kType;  // "list"

  struct Element {
    ValueType type = ValueType::kI32;
    Value value;
  };
  // More cannot be had, whatever the allocator says: sizes in bytes stay far from overflow.
  static constexpr uint64_t kElementsMax = uint64_t{1} << 32;

  // Null when room for `capacity` elements cannot be had; so false from reserve and push, which then change nothing.
  static Ref<List> make(uint64_t capacity = 0, const Allocator& allocator = system_allocator());

  uint64_t size() const { return size_; }
  // A `value` that is a reference is borrowed, and retained.
  bool push(ValueType element_type, Value value);
  void set(uint64_t index, ValueType element_type, Value value);  // index < size()
  bool reserve(uint64_t capacity);

  // For programs, which may be told to stop on the way. A list that is resized then has some of the elements.
  TrapKind reserve(uint64_t capacity, Pace& pace);
  TrapKind resize(uint64_t size, Pace& pace);  // new elements are i32 zeros
  bool is_full() const { return size_ == capacity_; }
  uint64_t next_capacity() const { return capacity_ < 4 ? 4 : capacity_ * 2; }

  Element* elements = nullptr;

 private:
  explicit List(const Allocator& allocator) : Object(&kType), allocator_(allocator) {}
  ~List() = default;
  static void destroy(Object* object);
  Element* room_for(uint64_t capacity) const;  // null when it cannot be had
  void move_to(Element* room, uint64_t capacity);
  void drop_last(uint64_t dropped);
  void hold(Value reference);

  uint64_t size_ = 0;
  uint64_t capacity_ = 0;
  List* next_dead_ = nullptr;  // destroy()
  // Ever. A list of numbers alone is dropped without a look at them, however long it is.
  bool held_references_ = false;
  Allocator allocator_;
};

inline List* as_list(Object* object) {
  return object && object->type == &List::kType ? static_cast<List*>(object) : nullptr;
}

}  // namespace baton::vm
