// Single values between registers of a program and Any.
#pragma once

#include <bit>
#include <cmath>

#include "modules/hal_module/objects.hpp"
#include "modules/tvm_ffi/function.hpp"
#include "modules/tvm_ffi/tensors.hpp"

namespace baton::modules::tvm_ffi {

// A value of TVM-FFI in a reference register: an object, or what Any has in place (a number, a short str, a dtype), owned.
class HeldObject final : public sdk::Object<HeldObject> {
 public:
  static constexpr char kTypeName[] = "tvm_ffi.object";
  HeldObject(std::shared_ptr<const Runtime> runtime, const Any& owned) : runtime_(std::move(runtime)), value_(owned) {}
  ~HeldObject() { runtime_->drop(value_); }
  const Any& value() const { return value_; }

 private:
  std::shared_ptr<const Runtime> runtime_;
  Any value_;
};

// Places of T for as many as a call has: here when they are few.
template <typename T, size_t kInPlace>
class Places {
 public:
  explicit Places(size_t count) : count_(count), first_(count <= kInPlace ? in_place() : new_places(count)) {
    for (size_t i = 0; i < count_; ++i) new (first_ + i) T();
  }
  ~Places() {
    for (size_t i = 0; i < count_; ++i) first_[i].~T();
    if (first_ != in_place()) ::operator delete(first_);
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  T& operator[](size_t index) { return first_[index]; }
  T* data() { return first_; }

 private:
  T* in_place() { return reinterpret_cast<T*>(bytes_); }
  static T* new_places(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T))); }

  size_t count_;
  alignas(T) std::byte bytes_[kInPlace * sizeof(T)];
  T* first_;
};

// The same value with an owner more.
inline Any share(const Runtime& runtime, const Any& value) {
  if (value.type_index >= kObjectBegin) runtime.retain(value.object);
  return value;
}
// Whether the caller keeps the value alive during the call.
inline bool is_borrowed(const Any& value) {
  return value.type_index == kTensorView || value.type_index == kRawText || value.type_index == kByteArrayPtr ||
         value.type_index == kMovable;
}

inline Any any_of(int64_t number) {
  Any any;
  any.type_index = kInt;
  any.integer = number;
  return any;
}
inline Any any_of(double number) {
  Any any;
  any.type_index = kFloat;
  any.real = number;
  return any;
}

// A number's register. Those of 64 bits are passed as they are.
inline bool is_wide(Kind kind) { return kind == Kind::kI64 || kind == Kind::kF64; }
inline int64_t narrow_bits(Kind kind, const baton_value& value) {
  if (kind == Kind::kF32) return std::bit_cast<int64_t>(static_cast<double>(value.f32));
  return kind == Kind::kBool ? value.i32 != 0 : value.i32;
}
inline Any any_of_number(Kind kind, const baton_value& value) {
  constexpr uint8_t kTypes[] = {kInt, kInt, kFloat, kFloat, kBool};  // By kind.
  Any any;
  any.type_index = kTypes[static_cast<size_t>(kind)];
  any.integer = is_wide(kind) ? value.i64 : narrow_bits(kind, value);
  return any;
}

// Whether it is no finite number beyond those of 32 bits.
inline bool is_f32(double number) { return std::isinf(number) || !std::isinf(static_cast<float>(number)); }

// The number that a register of this kind holds, as it comes most of the time; false for everything else, of which
// take_result() says more.
inline bool read_number(Kind kind, const Any& value, baton_value& out) {
  switch (kind) {
    case Kind::kI32:
    case Kind::kBool:
      if (value.type_index != kInt && value.type_index != kBool) return false;
      if (value.integer < INT32_MIN || value.integer > INT32_MAX) return false;
      out = baton_value_of_i32(static_cast<int32_t>(value.integer));
      return true;
    case Kind::kI64:
      if (value.type_index != kInt && value.type_index != kBool) return false;
      out = baton_value_of_i64(value.integer);
      return true;
    case Kind::kF32:
      if (value.type_index != kFloat || !is_f32(value.real)) return false;
      out = baton_value_of_f32(static_cast<float>(value.real));
      return true;
    case Kind::kF64:
      if (value.type_index != kFloat) return false;
      out = baton_value_of_f64(value.real);
      return true;
    default: return false;
  }
}

// The same, where a number of 64 bits is what comes most of the time.
inline bool take_number(Kind kind, const Any& value, baton_value& out) {
  if (kind == Kind::kI64 && value.type_index == kInt) [[likely]] {
    out = baton_value_of_i64(value.integer);
    return true;
  }
  return read_number(kind, value, out);
}

// Whether a call has nothing but numbers and tensors, few, and at most one result; whether it has numbers alone; and how
// it passes them.
bool is_plain(const Signature& signature);
bool has_numbers_alone(const Signature& signature);
PlainCallPlan plan_of(const Signature& plain);
inline constexpr size_t kPlainArgumentsMax = PlainCallPlan::kArgumentsMax;
// Text or bytes, owned by the caller.
Result<Any> any_of_bytes(const Runtime& runtime, Kind kind, std::string_view bytes);
// What a function takes as its device.
Any any_of_device(const hal::Device& device);
// The index of a CUDA device, or -1 for others.
int32_t cuda_ordinal(const hal::Device& device);

// The bytes of text in any form; nothing for other values.
bool read_bytes(Any& value, std::string_view& out);

// Converts a result to the type of `parameter`, into a register's bits or `out_object` (owned). Tensors go to `device`,
// which may be null.
struct Taker {
  const std::shared_ptr<const Runtime>& runtime;
  hal::Device* device;
  int64_t stream;
};
Status take_result(const Taker& taker, const Parameter& parameter, Any& value, baton_value& out,
                   baton_object*& out_object);

}  // namespace baton::modules::tvm_ffi
