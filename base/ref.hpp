// Ref<T>: shared ownership by an intrusive count. T provides retain() and release(); RefCounted<T> is the usual way to.
// Threads: the count may be changed from any thread; a Ref itself is externally synchronized.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "base/reference_count.hpp"

namespace baton {

template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: null is a Ref
  explicit Ref(T* shared) : pointer_(shared) {
    if (pointer_) pointer_->retain();
  }
  Ref(const Ref& other) : Ref(other.pointer_) {}
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <typename U>
  requires std::is_convertible_v<U*, T*> Ref(Ref<U> other) : pointer_(other.detach()) {}  // NOLINT: upcast
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Ref() {
    if (pointer_) pointer_->release();
  }

  // Takes over a reference that the caller owned.
  static Ref adopt(T* owned) {
    Ref ref;
    ref.pointer_ = owned;
    return ref;
  }
  // Gives the reference to the caller.
  T* detach() { return std::exchange(pointer_, nullptr); }

  T* get() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  T* operator->() const { return pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.pointer_ == b.pointer_; }

 private:
  T* pointer_ = nullptr;
};

template <typename T, typename... Arguments>
Ref<T> make_ref(Arguments&&... arguments) {
  return Ref<T>::adopt(new T(std::forward<Arguments>(arguments)...));
}

// Starts at one reference, which make_ref adopts.
template <typename Derived>
class RefCounted {
 public:
  void retain() const { count_.up(); }
  void release() const {
    if (count_.down()) delete static_cast<const Derived*>(this);
  }
  // The caller holds a reference; true when it is the only one.
  bool has_one_owner() const { return count_.is_one(); }

 protected:
  RefCounted() = default;
  ~RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

 private:
  mutable ReferenceCount count_;
};

}  // namespace baton
