// Sets of bits with a type: `Usage::kRead | Usage::kWrite`, `has_all(usage, Usage::kRead)`.
// An enum class joins by declaring `constexpr bool enable_flags(E) { return true; }` beside it.
#pragma once

#include <type_traits>
#include <utility>

namespace baton::hal {

template <typename E>
concept FlagEnum = std::is_enum_v<E> && requires(E e) {
  enable_flags(e);
};

template <FlagEnum E>
constexpr std::underlying_type_t<E> to_bits(E flags) {
  return static_cast<std::underlying_type_t<E>>(flags);
}
template <FlagEnum E>
constexpr E operator|(E a, E b) {
  return static_cast<E>(to_bits(a) | to_bits(b));
}
template <FlagEnum E>
constexpr E operator&(E a, E b) {
  return static_cast<E>(to_bits(a) & to_bits(b));
}
template <FlagEnum E>
constexpr E& operator|=(E& a, E b) {
  return a = a | b;
}
template <FlagEnum E>
constexpr bool has_all(E flags, E wanted) {
  return (flags & wanted) == wanted;
}
template <FlagEnum E>
constexpr bool has_any(E flags, E wanted) {
  return to_bits(flags & wanted) != 0;
}

}  // namespace baton::hal
