#include "vm/list.hpp"

#include <cstring>
#include <new>

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
    for (uint64_t i = 0; i < list->size_; ++i) {
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

bool List::reserve(uint64_t capacity) {
  if (capacity <= capacity_) return true;
  if (capacity > kElementsMax) return false;
  void* memory = try_allocate(allocator_, capacity * sizeof(Element));
  if (!memory) return false;
  if (size_ != 0) std::memcpy(memory, static_cast<void*>(elements), size_ * sizeof(Element));
  allocator_.free(elements);
  elements = static_cast<Element*>(memory);
  capacity_ = capacity;
  return true;
}

bool List::resize(uint64_t size) {
  if (!reserve(size)) return false;
  while (size_ > size) {
    const Element last = elements[--size_];
    if (last.type == ValueType::kRef) release_object(last.value.ref);
  }
  for (; size_ < size; ++size_) new (&elements[size_]) Element();
  return true;
}

bool List::push(ValueType element_type, Value value) {
  if (size_ == capacity_ && !reserve(capacity_ < 4 ? 4 : capacity_ * 2)) return false;
  if (element_type == ValueType::kRef) retain_object(value.ref);
  new (&elements[size_++]) Element{element_type, value};
  return true;
}

void List::set(uint64_t index, ValueType element_type, Value value) {
  if (element_type == ValueType::kRef) retain_object(value.ref);
  const Element previous = elements[index];
  elements[index] = {element_type, value};
  if (previous.type == ValueType::kRef) release_object(previous.value.ref);
}

}  // namespace baton::vm
