#include "vm/list.hpp"

#include <cstring>
#include <memory>
#include <new>

#include "vm/pace.hpp"

namespace baton::vm {
namespace {

// Straight to the allocator's function: a program may ask for more than there is, and gets a trap for it.
void* try_allocate(const Allocator& allocator, size_t size) {
  return allocator.allocate_bytes(allocator.self, size, alignof(List::Element), /*zeroed=*/0);
}

}  // namespace

const ObjectType List::kType = {.name = "list", .destroy = destroy};

Ref<List> List::make(uint64_t capacity, const Allocator& allocator) {
  void* memory = try_allocate(allocator, sizeof(List));
  if (!memory) return nullptr;
  Ref<List> list = Ref<List>::adopt(new (memory) List(allocator));
  return list->reserve(capacity) ? list : nullptr;
}

// A program may nest lists as deep as it likes, and the C stack is only so deep: lists that die with this one are
// queued, not entered.
void List::destroy(Object* object) {
  for (List* dead = static_cast<List*>(object); dead;) {
    List* const list = dead;
    dead = list->next_dead_;
    const uint64_t size = list->held_references_ ? list->size_ : 0;  // Numbers are not looked at again.
    for (uint64_t i = 0; i < size; ++i) {
      const Element& element = list->elements[i];
      if (element.type != ValueType::kRef) continue;
      List* const inner = as_list(element.value.ref);
      if (!inner) {
        release_object(element.value.ref);
      } else if (inner->drop()) {
        inner->next_dead_ = dead;
        dead = inner;
      }
    }
    const Allocator allocator = list->allocator_;
    allocator.free(list->elements);
    list->~List();
    allocator.free(list);
  }
}

List::Element* List::room_for(uint64_t capacity) const {
  if (capacity > kElementsMax) return nullptr;
  return static_cast<Element*>(try_allocate(allocator_, capacity * sizeof(Element)));
}

// `room` has what stood here.
void List::move_to(Element* room, uint64_t capacity) {
  allocator_.free(elements);
  elements = room;
  capacity_ = capacity;
}

bool List::reserve(uint64_t capacity) {
  if (capacity <= capacity_) return true;
  Element* const room = room_for(capacity);
  if (!room) return false;
  if (size_ != 0) std::memcpy(static_cast<void*>(room), static_cast<void*>(elements), size_ * sizeof(Element));
  move_to(room, capacity);
  return true;
}

TrapKind List::reserve(uint64_t capacity, Pace& pace) {
  if (capacity <= capacity_) return TrapKind::kNone;
  Element* const room = room_for(capacity);
  if (!room) return TrapKind::kTooLarge;
  auto* const target = reinterpret_cast<std::byte*>(room);
  const auto* const source = reinterpret_cast<const std::byte*>(elements);
  const TrapKind trap = pace.in_stretches(size_ * sizeof(Element), [&](uint64_t begin, uint64_t end) {
    std::memcpy(target + begin, source + begin, end - begin);
  });
  if (trap == TrapKind::kNone) {
    move_to(room, capacity);
  } else {
    allocator_.free(room);
  }
  return trap;
}

TrapKind List::resize(uint64_t size, Pace& pace) {
  if (const TrapKind trap = reserve(size, pace); trap != TrapKind::kNone) return trap;
  const uint64_t changes = size > size_ ? size - size_ : size_ - size;
  return pace.in_stretches(changes * sizeof(Element), [&](uint64_t begin, uint64_t end) {
    const uint64_t elements_here = (end - begin) / sizeof(Element);
    if (size_ < size) {
      std::uninitialized_value_construct_n(elements + size_, elements_here);
      size_ += elements_here;
    } else {
      drop_last(elements_here);
    }
  });
}

void List::drop_last(uint64_t dropped) {
  if (!held_references_) {
    size_ -= dropped;
    return;
  }
  for (; dropped != 0; --dropped) {
    const Element last = elements[--size_];
    if (last.type == ValueType::kRef) release_object(last.value.ref);
  }
}

void List::hold(Value reference) {
  retain_object(reference.ref);
  held_references_ = true;
}

bool List::push(ValueType element_type, Value value) {
  if (is_full() && !reserve(next_capacity())) return false;
  if (element_type == ValueType::kRef) hold(value);
  new (&elements[size_++]) Element{element_type, value};
  return true;
}

void List::set(uint64_t index, ValueType element_type, Value value) {
  if (element_type == ValueType::kRef) hold(value);
  const Element previous = elements[index];
  elements[index] = {element_type, value};
  if (previous.type == ValueType::kRef) release_object(previous.value.ref);
}

}  // namespace baton::vm
