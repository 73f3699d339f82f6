// What a register, argument or result holds: 8 bytes whose type the code knows. The bytes are baton_value's
// (modules/sdk). An i32 or f32 leaves the high half zero: write through the factories.
#pragma once

#include <bit>
#include <cstdint>

#include "bytecode/value_type.hpp"

namespace baton::vm {

struct Object;
using bytecode::ValueType;

union Value {
  uint64_t bits;
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  Object* ref;

  Value() : bits(0) {}
  static Value of(int32_t number) { return from_bits(static_cast<uint32_t>(number)); }
  static Value of(int64_t number) { return from_bits(static_cast<uint64_t>(number)); }
  static Value of(float number) { return from_bits(std::bit_cast<uint32_t>(number)); }
  static Value of(double number) { return from_bits(std::bit_cast<uint64_t>(number)); }
  static Value of(Object* reference) { return from_bits(reinterpret_cast<uint64_t>(reference)); }
  static Value from_bits(uint64_t bits) {
    Value value;
    value.bits = bits;
    return value;
  }

  // Reads as T: int32_t, int64_t, float or double.
  template <typename T>
  T as() const {
    if constexpr (sizeof(T) == 4) {
      return std::bit_cast<T>(static_cast<uint32_t>(bits));
    } else {
      return std::bit_cast<T>(bits);
    }
  }
};
static_assert(sizeof(Value) == 8);

// A value that says what it is: what the host's calls take. The bytes are baton_typed_value's.
struct TypedValue {
  Value value;
  char letter;  // as in a signature: i I f F r
  char reserved[7] = {};

  TypedValue(int32_t number) : value(Value::of(number)), letter('i') {}        // NOLINT: a number is a value
  TypedValue(int64_t number) : value(Value::of(number)), letter('I') {}        // NOLINT
  TypedValue(float number) : value(Value::of(number)), letter('f') {}          // NOLINT
  TypedValue(double number) : value(Value::of(number)), letter('F') {}         // NOLINT
  TypedValue(Object* reference) : value(Value::of(reference)), letter('r') {}  // NOLINT
};
static_assert(sizeof(TypedValue) == 16);

}  // namespace baton::vm
