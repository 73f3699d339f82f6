// Integer arithmetic: one function per mnemonic, on values. Signed arithmetic wraps: it is done unsigned.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "vm/trap.hpp"

namespace baton::vm::ops {
namespace integer {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;
template <typename T>
inline constexpr T kWidth = static_cast<T>(sizeof(T) * 8);

template <typename T>
T wrap(Unsigned<T> bits) {
  return static_cast<T>(bits);
}
template <typename T>
Unsigned<T> raw(T value) {
  return static_cast<Unsigned<T>>(value);
}

// Double the width, for high halves of products.
template <typename T>
struct Wide;
template <>
struct Wide<int32_t> {
  using Signed = int64_t;
  using UnsignedType = uint64_t;
};
template <>
struct Wide<int64_t> {
  __extension__ using Signed = __int128;
  __extension__ using UnsignedType = unsigned __int128;
};

template <typename T>
T mulhi_s(T lhs, T rhs) {
  return static_cast<T>((static_cast<typename Wide<T>::Signed>(lhs) * rhs) >> (sizeof(T) * 8));
}
template <typename T>
T mulhi_u(T lhs, T rhs) {
  using Product = typename Wide<T>::UnsignedType;
  return static_cast<T>((static_cast<Product>(raw(lhs)) * raw(rhs)) >> (sizeof(T) * 8));
}

template <typename T>
bool overflows(T lhs, T rhs) {
  return lhs == std::numeric_limits<T>::min() && rhs == -1;
}
template <typename T>
Fallible<T> div_s(T lhs, T rhs) {
  if (rhs == 0) [[unlikely]]
    return TrapKind::kDivisionByZero;
  if (overflows(lhs, rhs)) [[unlikely]]
    return TrapKind::kDivisionOverflow;
  return static_cast<T>(lhs / rhs);
}
template <typename T>
Fallible<T> div_u(T lhs, T rhs) {
  if (rhs == 0) [[unlikely]]
    return TrapKind::kDivisionByZero;
  return wrap<T>(raw(lhs) / raw(rhs));
}
template <typename T>
Fallible<T> rem_s(T lhs, T rhs) {
  if (rhs == 0) [[unlikely]]
    return TrapKind::kDivisionByZero;
  if (rhs == -1) return T{0};  // Also for INT_MIN, where the machine's division would fault.
  return static_cast<T>(lhs % rhs);
}
template <typename T>
Fallible<T> rem_u(T lhs, T rhs) {
  if (rhs == 0) [[unlikely]]
    return TrapKind::kDivisionByZero;
  return wrap<T>(raw(lhs) % raw(rhs));
}
template <typename T>
Fallible<T> ceildiv_s(T lhs, T rhs) {
  Fallible<T> quotient = div_s(lhs, rhs);
  if (quotient.trap == TrapKind::kNone && lhs % rhs != 0 && (lhs < 0) == (rhs < 0)) ++quotient.value;
  return quotient;
}
template <typename T>
Fallible<T> ceildiv_u(T lhs, T rhs) {
  if (rhs == 0) [[unlikely]]
    return TrapKind::kDivisionByZero;
  return wrap<T>(raw(lhs) / raw(rhs) + (raw(lhs) % raw(rhs) != 0));
}
template <typename T>
Fallible<T> floordiv_s(T lhs, T rhs) {
  Fallible<T> quotient = div_s(lhs, rhs);
  if (quotient.trap == TrapKind::kNone && lhs % rhs != 0 && (lhs < 0) != (rhs < 0)) --quotient.value;
  return quotient;
}

template <typename T>
T shl(T value, Unsigned<T> amount) {
  return amount < raw(kWidth<T>) ? wrap<T>(raw(value) << amount) : T{0};
}
template <typename T>
T shr_s(T value, Unsigned<T> amount) {
  return static_cast<T>(value >> (amount < raw(kWidth<T>) ? amount : raw(kWidth<T>) - 1));
}
template <typename T>
T shr_u(T value, Unsigned<T> amount) {
  return amount < raw(kWidth<T>) ? wrap<T>(raw(value) >> amount) : T{0};
}

template <typename T>
Fallible<T> pow(T base, T exponent) {
  if (exponent < 0) {
    if (base == 0) [[unlikely]]
      return TrapKind::kNegativePower;
    if (base == 1) return T{1};
    if (base == -1) return static_cast<T>(exponent % 2 == 0 ? 1 : -1);
    return T{0};  // The true result lies between -1 and 1.
  }
  Unsigned<T> result = 1;
  Unsigned<T> square = raw(base);
  for (Unsigned<T> rest = raw(exponent); rest != 0; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return wrap<T>(result);
}

}  // namespace integer

// The same functions for both widths; `T` is int32_t or int64_t, `suffix` the mnemonic's.
#define BATON_INTEGER_OPS(T, suffix)                                                                         \
  inline T add_##suffix(T lhs, T rhs) { return integer::wrap<T>(integer::raw(lhs) + integer::raw(rhs)); }    \
  inline T sub_##suffix(T lhs, T rhs) { return integer::wrap<T>(integer::raw(lhs) - integer::raw(rhs)); }    \
  inline T mul_##suffix(T lhs, T rhs) { return integer::wrap<T>(integer::raw(lhs) * integer::raw(rhs)); }    \
  inline T mulhi_s_##suffix(T lhs, T rhs) { return integer::mulhi_s(lhs, rhs); }                             \
  inline T mulhi_u_##suffix(T lhs, T rhs) { return integer::mulhi_u(lhs, rhs); }                             \
  inline Fallible<T> div_s_##suffix(T lhs, T rhs) { return integer::div_s(lhs, rhs); }                       \
  inline Fallible<T> div_u_##suffix(T lhs, T rhs) { return integer::div_u(lhs, rhs); }                       \
  inline Fallible<T> rem_s_##suffix(T lhs, T rhs) { return integer::rem_s(lhs, rhs); }                       \
  inline Fallible<T> rem_u_##suffix(T lhs, T rhs) { return integer::rem_u(lhs, rhs); }                       \
  inline Fallible<T> ceildiv_s_##suffix(T lhs, T rhs) { return integer::ceildiv_s(lhs, rhs); }               \
  inline Fallible<T> ceildiv_u_##suffix(T lhs, T rhs) { return integer::ceildiv_u(lhs, rhs); }               \
  inline Fallible<T> floordiv_s_##suffix(T lhs, T rhs) { return integer::floordiv_s(lhs, rhs); }             \
  inline T and_##suffix(T lhs, T rhs) { return lhs & rhs; }                                                  \
  inline T or_##suffix(T lhs, T rhs) { return lhs | rhs; }                                                   \
  inline T xor_##suffix(T lhs, T rhs) { return lhs ^ rhs; }                                                  \
  inline T not_##suffix(T value) { return ~value; }                                                          \
  inline T shl_##suffix(T lhs, T rhs) { return integer::shl<T>(lhs, integer::raw(rhs)); }                    \
  inline T shr_s_##suffix(T lhs, T rhs) { return integer::shr_s<T>(lhs, integer::raw(rhs)); }                \
  inline T shr_u_##suffix(T lhs, T rhs) { return integer::shr_u<T>(lhs, integer::raw(rhs)); }                \
  inline T rotl_##suffix(T lhs, T rhs) {                                                                     \
    return integer::wrap<T>(std::rotl(integer::raw(lhs), static_cast<int>(rhs & (integer::kWidth<T> - 1)))); \
  }                                                                                                          \
  inline T min_s_##suffix(T lhs, T rhs) { return lhs < rhs ? lhs : rhs; }                                    \
  inline T min_u_##suffix(T lhs, T rhs) { return integer::raw(lhs) < integer::raw(rhs) ? lhs : rhs; }        \
  inline T max_s_##suffix(T lhs, T rhs) { return lhs > rhs ? lhs : rhs; }                                    \
  inline T max_u_##suffix(T lhs, T rhs) { return integer::raw(lhs) > integer::raw(rhs) ? lhs : rhs; }        \
  inline T abs_##suffix(T value) { return value < 0 ? integer::wrap<T>(0 - integer::raw(value)) : value; }   \
  inline T ctlz_##suffix(T value) { return static_cast<T>(std::countl_zero(integer::raw(value))); }          \
  inline T cttz_##suffix(T value) { return static_cast<T>(std::countr_zero(integer::raw(value))); }          \
  inline T ctpop_##suffix(T value) { return static_cast<T>(std::popcount(integer::raw(value))); }            \
  inline Fallible<T> pow_##suffix(T lhs, T rhs) { return integer::pow(lhs, rhs); }                           \
  inline T add_imm_##suffix(T lhs, int16_t imm) { return add_##suffix(lhs, imm); }                           \
  inline T mul_imm_##suffix(T lhs, int16_t imm) { return mul_##suffix(lhs, imm); }                           \
  inline T and_imm_##suffix(T lhs, int16_t imm) { return lhs & imm; }                                        \
  inline T shl_imm_##suffix(T lhs, int16_t imm) { return shl_##suffix(lhs, imm); }                           \
  inline T shr_s_imm_##suffix(T lhs, int16_t imm) { return shr_s_##suffix(lhs, imm); }                       \
  inline T shr_u_imm_##suffix(T lhs, int16_t imm) { return shr_u_##suffix(lhs, imm); }

BATON_INTEGER_OPS(int32_t, i32)
BATON_INTEGER_OPS(int64_t, i64)
#undef BATON_INTEGER_OPS

}  // namespace baton::vm::ops
