// Storage that a check takes anew for each module or function: a few elements in place, more on the heap, kept for the
// next one. Most functions are small, and a small module is verified without an allocation. Private to this room.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace baton::bytecode {

template <typename T, size_t kInPlace>
class Scratch {
 public:
  // `count` elements, each `value`; what was taken before is gone.
  std::span<T> take(size_t count, T value) {
    const std::span<T> elements(room_for(count), count);
    for (T& element : elements) element = value;
    return elements;
  }
  // The same without values.
  std::span<T> take(size_t count) { return {room_for(count), count}; }

 private:
  T* room_for(size_t count) {
    if (count <= kInPlace) return in_place_;
    if (count > capacity_) {
      capacity_ = count > 2 * capacity_ ? count : 2 * capacity_;
      heap_.reset(new T[capacity_]);
    }
    return heap_.get();
  }

  T in_place_[kInPlace];
  std::unique_ptr<T[]> heap_;
  size_t capacity_ = 0;
};

// A set of words of one function: one bit each.
class WordSet {
 public:
  void reset(size_t words) { bits_ = storage_.take((words + 63) / 64, 0); }
  void add(size_t word) { bits_[word / 64] |= uint64_t{1} << (word % 64); }
  bool has(size_t word) const { return bits_[word / 64] >> (word % 64) & 1; }
  // The first word behind `word` that is in the set or a multiple of 64.
  size_t stretch_end(size_t word) const {
    const uint64_t behind = bits_[word / 64] >> (word % 64) >> 1;
    return behind != 0 ? word + 1 + static_cast<size_t>(std::countr_zero(behind)) : (word / 64 + 1) * 64;
  }
  std::span<const uint64_t> bits() const { return bits_; }

 private:
  Scratch<uint64_t, 4> storage_;
  std::span<uint64_t> bits_;
};

}  // namespace baton::bytecode
