// What a register, argument, global or list element may hold.
//
// There are two banks: 64-bit value slots (i32, i64, f32, f64) and 8-byte references. An i32 or f32 lives in the low
// half of its slot and the high half is zero; code may rely on that, and every writer keeps it. So one `move`, `select`
// or `global.get` serves all four, and a bitcast is a move.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace baton::bytecode {

enum class ValueType : uint8_t { kI32 = 0, kI64 = 1, kF32 = 2, kF64 = 3, kRef = 4 };

constexpr bool is_ref(ValueType type) { return type == ValueType::kRef; }

// "i32", "i64", "f32", "f64", "ref".
constexpr std::string_view value_type_name(ValueType type) {
  constexpr std::string_view names[] = {"i32", "i64", "f32", "f64", "ref"};
  return names[static_cast<uint8_t>(type)];
}

// The letter of a calling convention: i I f F r.
constexpr char value_type_letter(ValueType type) { return "iIfFr"[static_cast<uint8_t>(type)]; }

constexpr std::optional<ValueType> value_type_from_letter(char letter) {
  switch (letter) {
    case 'i': return ValueType::kI32;
    case 'I': return ValueType::kI64;
    case 'f': return ValueType::kF32;
    case 'F': return ValueType::kF64;
    case 'r': return ValueType::kRef;
    default: return std::nullopt;
  }
}

constexpr std::optional<ValueType> value_type_from_name(std::string_view name) {
  for (uint8_t i = 0; i < 5; ++i) {
    if (value_type_name(static_cast<ValueType>(i)) == name) return static_cast<ValueType>(i);
  }
  return std::nullopt;
}

}  // namespace baton::bytecode
