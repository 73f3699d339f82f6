// Ring: a queue in one block of memory, which grows when it is full and never shrinks.
//
// What goes round steadily stays in the same few cache lines; a deque walks through new blocks.
// Threads: externally synchronized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace baton::hal::drivers::cuda {

template <typename T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  // From the oldest on.
  T& operator[](size_t index) { return items_[(first_ + index) & (capacity_ - 1)]; }
  const T& operator[](size_t index) const { return items_[(first_ + index) & (capacity_ - 1)]; }
  T& front() { return (*this)[0]; }
  T& back() { return (*this)[count_ - 1]; }
  const T& back() const { return (*this)[count_ - 1]; }

  void push(T item) {
    if (count_ == capacity_) [[unlikely]]
      grow();
    ++count_;
    back() = std::move(item);
  }
  T pop() {
    T item = std::exchange(front(), T());
    first_ = (first_ + 1) & (capacity_ - 1);
    --count_;
    return item;
  }

 private:
  static constexpr uint32_t kCapacityMin = 16;

  void grow() {
    const uint32_t capacity = capacity_ ? 2 * capacity_ : kCapacityMin;
    auto items = std::make_unique<T[]>(capacity);
    for (uint32_t i = 0; i < count_; ++i) items[i] = std::move((*this)[i]);
    items_ = std::move(items);
    capacity_ = capacity;
    first_ = 0;
  }

  std::unique_ptr<T[]> items_;
  uint32_t capacity_ = 0;  // A power of two.
  uint32_t first_ = 0;
  uint32_t count_ = 0;
};

}  // namespace baton::hal::drivers::cuda
