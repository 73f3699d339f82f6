// Float arithmetic: one function per mnemonic, on values. IEEE semantics; the default rounding mode is assumed.
#pragma once

#include <cmath>
#include <cstdint>

namespace baton::vm::ops {
namespace floating {

// NaN when either is; -0 below +0. The C library's fmin and fmax do neither.
template <typename T>
T minimum(T lhs, T rhs) {
  if (lhs != lhs || rhs != rhs) return lhs + rhs;
  if (lhs == rhs) return std::signbit(lhs) ? lhs : rhs;
  return lhs < rhs ? lhs : rhs;
}
template <typename T>
T maximum(T lhs, T rhs) {
  if (lhs != lhs || rhs != rhs) return lhs + rhs;
  if (lhs == rhs) return std::signbit(lhs) ? rhs : lhs;
  return lhs > rhs ? lhs : rhs;
}

// By squaring, in double: the result of the f32 form is then rounded once in all but extreme cases.
template <typename T>
T powi(T base, int32_t exponent) {
  double result = 1;
  double square = base;
  for (uint32_t rest = exponent < 0 ? 0u - static_cast<uint32_t>(exponent) : static_cast<uint32_t>(exponent); rest != 0;
       rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(exponent < 0 ? 1 / result : result);
}

}  // namespace floating

#define BATON_FLOAT_OPS(T, suffix)                                                \
  inline T add_##suffix(T lhs, T rhs) { return lhs + rhs; }                       \
  inline T sub_##suffix(T lhs, T rhs) { return lhs - rhs; }                       \
  inline T mul_##suffix(T lhs, T rhs) { return lhs * rhs; }                       \
  inline T div_##suffix(T lhs, T rhs) { return lhs / rhs; }                       \
  inline T rem_##suffix(T lhs, T rhs) { return std::fmod(lhs, rhs); }             \
  inline T neg_##suffix(T value) { return -value; }                               \
  inline T abs_##suffix(T value) { return std::fabs(value); }                     \
  inline T copysign_##suffix(T lhs, T rhs) { return std::copysign(lhs, rhs); }    \
  inline T minimum_##suffix(T lhs, T rhs) { return floating::minimum(lhs, rhs); } \
  inline T maximum_##suffix(T lhs, T rhs) { return floating::maximum(lhs, rhs); } \
  inline T minnum_##suffix(T lhs, T rhs) { return std::fmin(lhs, rhs); }          \
  inline T maxnum_##suffix(T lhs, T rhs) { return std::fmax(lhs, rhs); }          \
  inline T fma_##suffix(T a, T b, T c) { return std::fma(a, b, c); }              \
  inline T floor_##suffix(T value) { return std::floor(value); }                  \
  inline T ceil_##suffix(T value) { return std::ceil(value); }                    \
  inline T trunc_##suffix(T value) { return std::trunc(value); }                  \
  inline T round_##suffix(T value) { return std::round(value); }                  \
  inline T roundeven_##suffix(T value) { return std::nearbyint(value); }          \
  inline T sqrt_##suffix(T value) { return std::sqrt(value); }                    \
  inline T rsqrt_##suffix(T value) { return T{1} / std::sqrt(value); }            \
  inline T cbrt_##suffix(T value) { return std::cbrt(value); }                    \
  inline T exp_##suffix(T value) { return std::exp(value); }                      \
  inline T exp2_##suffix(T value) { return std::exp2(value); }                    \
  inline T expm1_##suffix(T value) { return std::expm1(value); }                  \
  inline T log_##suffix(T value) { return std::log(value); }                      \
  inline T log2_##suffix(T value) { return std::log2(value); }                    \
  inline T log10_##suffix(T value) { return std::log10(value); }                  \
  inline T log1p_##suffix(T value) { return std::log1p(value); }                  \
  inline T sin_##suffix(T value) { return std::sin(value); }                      \
  inline T cos_##suffix(T value) { return std::cos(value); }                      \
  inline T tan_##suffix(T value) { return std::tan(value); }                      \
  inline T asin_##suffix(T value) { return std::asin(value); }                    \
  inline T acos_##suffix(T value) { return std::acos(value); }                    \
  inline T atan_##suffix(T value) { return std::atan(value); }                    \
  inline T atan2_##suffix(T lhs, T rhs) { return std::atan2(lhs, rhs); }          \
  inline T sinh_##suffix(T value) { return std::sinh(value); }                    \
  inline T cosh_##suffix(T value) { return std::cosh(value); }                    \
  inline T tanh_##suffix(T value) { return std::tanh(value); }                    \
  inline T asinh_##suffix(T value) { return std::asinh(value); }                  \
  inline T acosh_##suffix(T value) { return std::acosh(value); }                  \
  inline T atanh_##suffix(T value) { return std::atanh(value); }                  \
  inline T erf_##suffix(T value) { return std::erf(value); }                      \
  inline T pow_##suffix(T lhs, T rhs) { return std::pow(lhs, rhs); }              \
  inline T powi_##suffix(T lhs, int32_t rhs) { return floating::powi(lhs, rhs); }

BATON_FLOAT_OPS(float, f32)
BATON_FLOAT_OPS(double, f64)
#undef BATON_FLOAT_OPS

}  // namespace baton::vm::ops
