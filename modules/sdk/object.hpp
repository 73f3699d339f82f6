// Things that programs hold references to, as C++ classes: the twin of object.h.
//
//   class String final : public Object<String> {
//    public:
//     static constexpr char kTypeName[] = "custom.string";   // as programs spell it
//     ...
//   };
//   Ref<String> string = make<String>("hello");
//
// Blob and List are the host's own types; their methods go through the host table.
// Threads: counts may be changed from any thread; what an object holds is up to its class. Blob and List are externally
// synchronized.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "modules/sdk/object.h"
#include "modules/sdk/status.hpp"
#include "modules/sdk/value.hpp"

namespace baton::sdk {

// Shares an object, or is null.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: null is a Ref
  explicit Ref(T* shared) : pointer_(shared) { baton_object_retain(pointer_); }
  Ref(const Ref& other) : Ref(other.pointer_) {}
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Ref() { baton_object_release(pointer_); }

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

namespace detail {

template <typename T>
void destroy_object(baton_object* object) {
  delete static_cast<T*>(object);
}
template <typename T>
int32_t wait_for_object(baton_object* object, int64_t timeout_ns) {
  return static_cast<T*>(object)->wait(timeout_ns);
}
template <typename T>
constexpr baton_object_type describe_type() {
  baton_object_type type = {sizeof(baton_object_type), 0, T::kTypeName, destroy_object<T>, nullptr};
  if constexpr (requires(T & object) { object.wait(int64_t{}); }) type.wait = wait_for_object<T>;
  return type;
}
// One per class and library: its address is the type.
template <typename T>
__attribute__((visibility("hidden"))) inline constexpr baton_object_type kObjectType = describe_type<T>();

}  // namespace detail

template <typename Class>
class Object : public baton_object {
 public:
  static const baton_object_type* object_type() { return &detail::kObjectType<Class>; }

 protected:
  Object() { baton_object_init(this, object_type()); }
  ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
};

template <typename T>
concept ObjectClass = std::derived_from<T, baton_object> && requires {
  { T::kTypeName } -> std::convertible_to<const char*>;
  { T::object_type() } -> std::same_as<const baton_object_type*>;
};

template <typename T, typename... Arguments>
Ref<T> make(Arguments&&... arguments) {
  return Ref<T>::adopt(new T(std::forward<Arguments>(arguments)...));
}

// The T that `object` is, or null when it is null or something else.
template <ObjectClass T>
T* cast(baton_object* object) {
  return object && object->type == T::object_type() ? static_cast<T*>(object) : nullptr;
}

// Host bytes that programs read and write.
class Blob final : public baton_object {
 public:
  static constexpr char kTypeName[] = "blob";
  static const baton_object_type* object_type() { return host().blob_type; }

  // Zeroed; null when `size` cannot be had.
  static Ref<Blob> make(uint64_t size) { return Ref<Blob>::adopt(static_cast<Blob*>(host().blob_make(size))); }
  static Ref<Blob> copy(std::string_view text) {
    Ref<Blob> blob = make(text.size());
    if (blob && !text.empty()) std::memcpy(blob->writable_bytes().data(), text.data(), text.size());
    return blob;
  }

  Blob() = delete;

  std::span<const std::byte> bytes() const { return access().bytes; }
  bool writable() const { return access().writable; }
  std::span<std::byte> writable_bytes() {  // empty unless writable()
    const Access all = access();
    return all.writable ? all.bytes : std::span<std::byte>();
  }
  std::string_view text() const {
    const std::span<const std::byte> all = bytes();
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }

 private:
  struct Access {
    std::span<std::byte> bytes;
    bool writable;
  };
  Access access() const {
    uint64_t size = 0;
    int32_t writable = 0;
    void* data = host().blob_bytes(const_cast<Blob*>(this), &size, &writable);
    return {{static_cast<std::byte*>(data), static_cast<size_t>(size)}, writable != 0};
  }
};

// A growable sequence of numbers and references, each with its type.
class List final : public baton_object {
 public:
  static constexpr char kTypeName[] = "list";
  static const baton_object_type* object_type() { return host().list_type; }

  static Ref<List> make(uint64_t capacity = 0) {
    return Ref<List>::adopt(static_cast<List*>(host().list_make(capacity)));
  }

  List() = delete;

  uint64_t size() const { return host().list_size(const_cast<List*>(this)); }

  // Fails beyond the end, and where the element is of another type.
  template <Number T>
  Result<T> get(uint64_t index) {
    char letter = 0;
    baton_value value{};
    if (Status status = Status::adopt(host().list_get(this, index, &letter, &value)); !status.ok()) return status;
    if (letter != kLetter<T>) return mismatch(index, letter, kLetter<T>);
    return load_number<T>(value);
  }
  // Borrowed from the list; null where the element is null.
  Result<baton_object*> get_ref(uint64_t index) {
    char letter = 0;
    baton_value value{};
    if (Status status = Status::adopt(host().list_get(this, index, &letter, &value)); !status.ok()) return status;
    if (letter != 'r') return mismatch(index, letter, 'r');
    return value.ref;
  }

  template <Number T>
  Status set(uint64_t index, T number) {
    return Status::adopt(host().list_set(this, index, kLetter<T>, slot_of(number)));
  }
  Status set(uint64_t index, baton_object* borrowed) {
    return Status::adopt(host().list_set(this, index, 'r', slot_of_ref(borrowed)));
  }
  template <Number T>
  Status push(T number) {
    return Status::adopt(host().list_push(this, kLetter<T>, slot_of(number)));
  }
  Status push(baton_object* borrowed) { return Status::adopt(host().list_push(this, 'r', slot_of_ref(borrowed))); }

 private:
  static baton_value slot_of_ref(baton_object* object) {
    baton_value value;
    value.ref = object;
    return value;
  }
  static Status mismatch(uint64_t index, char given, char wanted) {
    return failure(StatusCode::kInvalidArgument, "List element ", index, " is of type '", std::string_view(&given, 1),
                   "', not '", std::string_view(&wanted, 1), "'.");
  }
};

}  // namespace baton::sdk
