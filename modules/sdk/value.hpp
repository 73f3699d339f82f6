// How C++ numbers sit in a program's registers: the twin of value.h.
//
//   bool int32_t uint32_t   i     the low half of the slot, the high half zero
//   int64_t uint64_t        I
//   float                   f     as i
//   double                  F
#pragma once

#include <concepts>
#include <type_traits>

#include "modules/sdk/value.h"

namespace baton::sdk {

template <typename T>
concept Number = std::same_as<T, bool> || std::same_as<T, float> || std::same_as<T, double> ||
    (std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8));

// The letter of signature text (bytecode/signature.hpp).
template <Number T>
inline constexpr char kLetter = std::same_as<T, float>    ? 'f'
                                : std::same_as<T, double> ? 'F'
                                : sizeof(T) == 8          ? 'I'
                                                          : 'i';

template <Number T>
T load_number(const baton_value& slot) {
  if constexpr (std::same_as<T, bool>) {
    return slot.i32 != 0;
  } else if constexpr (std::same_as<T, float>) {
    return slot.f32;
  } else if constexpr (std::same_as<T, double>) {
    return slot.f64;
  } else {
    return static_cast<T>(slot.bits);
  }
}

template <Number T>
baton_value slot_of(T number) {
  if constexpr (std::same_as<T, float>) {
    return baton_value_of_f32(number);
  } else if constexpr (std::same_as<T, double>) {
    return baton_value_of_f64(number);
  } else if constexpr (sizeof(T) == 8) {
    return baton_value_of_i64(static_cast<int64_t>(number));
  } else {
    return baton_value_of_i32(static_cast<int32_t>(number));
  }
}

}  // namespace baton::sdk
