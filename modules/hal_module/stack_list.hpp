// StackList: up to so many plain things on the stack, none made before it is pushed. What a call hands to the HAL is
// gathered in one, so that a call allocates nothing.
// Threads: a local variable.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>

namespace baton::modules {

template <typename T, size_t kMost>
class StackList {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  T& push(const T& item) { return *new (storage_ + sizeof(T) * size_++) T(item); }  // size() < kMost
  size_t size() const { return size_; }
  std::span<const T> items() const { return {reinterpret_cast<const T*>(storage_), size_}; }

 private:
  alignas(T) std::byte storage_[sizeof(T) * kMost];
  size_t size_ = 0;
};

}  // namespace baton::modules
