// Constants, moves and conversions: one function per mnemonic, on values.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace baton::vm::ops {
namespace convert {

// Toward zero, saturating; NaN gives 0. The limits are compared as floats: the upper one is a power of two, hence
// exact, and every float below it truncates into range.
template <typename Integer, typename Float>
Integer saturate(Float value) {
  constexpr Float kAbove = static_cast<Float>(std::numeric_limits<Integer>::max() / 2 + 1) * 2;
  constexpr Float kLowest = static_cast<Float>(std::numeric_limits<Integer>::min());
  if (value >= kAbove) return std::numeric_limits<Integer>::max();
  if (value > kLowest) return static_cast<Integer>(value);  // For unsigned types (-1, 0) truncates to 0.
  return value != value ? Integer{0} : std::numeric_limits<Integer>::min();
}

// double → float in a direction other than to nearest: take the nearest and step once when it lies on the wrong side.
inline float toward(double value, bool wrong_side, float direction) {
  const float nearest = static_cast<float>(value);
  return wrong_side ? std::nextafter(nearest, direction) : nearest;
}
inline float up(double value) {
  return toward(value, static_cast<double>(static_cast<float>(value)) < value, std::numeric_limits<float>::infinity());
}
inline float down(double value) {
  return toward(value, static_cast<double>(static_cast<float>(value)) > value, -std::numeric_limits<float>::infinity());
}
inline float away(double value) {
  // Halfway cases round to even in hardware: the tie's other neighbour lies away from zero.
  const float nearest = static_cast<float>(value);
  const float outer = std::nextafter(nearest, std::copysign(std::numeric_limits<float>::infinity(), nearest));
  const double below = std::fabs(value) - std::fabs(static_cast<double>(nearest));
  const double above = std::fabs(static_cast<double>(outer)) - std::fabs(value);
  return below == above && std::isfinite(outer) ? outer : nearest;
}

inline float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0) {  // Zero or subnormal: fraction * 2^-24, exact in a float.
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  const uint32_t rebiased = exponent == 0x1f ? 0xffu : exponent + 112;
  return std::bit_cast<float>(sign | rebiased << 23 | fraction << 13);
}

inline uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;   // NaN, quiet
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // Rounds to infinity: 65520 and more.
  if (magnitude < 0x38800000u) {                        // Below 2^-14: subnormal. Adding 0.5 rounds at 2^-24.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
}

inline uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40u);  // Stays a NaN when cut.
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

}  // namespace convert

inline int32_t const_i32(int32_t imm) { return imm; }
inline int64_t const_i64(int32_t imm) { return imm; }
inline int64_t const_i64_wide(int64_t imm) { return imm; }
inline float const_f32(float imm) { return imm; }
inline double const_f64(double imm) { return imm; }
inline uint64_t move(uint64_t value) { return value; }
inline uint64_t select(int32_t condition, uint64_t lhs, uint64_t rhs) { return condition != 0 ? lhs : rhs; }

inline int32_t extend8_s_i32(int32_t value) { return static_cast<int8_t>(value); }
inline int32_t extend16_s_i32(int32_t value) { return static_cast<int16_t>(value); }
inline int32_t extend8_u_i32(int32_t value) { return static_cast<uint8_t>(value); }
inline int32_t extend16_u_i32(int32_t value) { return static_cast<uint16_t>(value); }
inline int64_t extend8_s_i64(int64_t value) { return static_cast<int8_t>(value); }
inline int64_t extend16_s_i64(int64_t value) { return static_cast<int16_t>(value); }
inline int64_t extend_s_i64_i32(int32_t value) { return value; }
inline int64_t extend_u_i64_i32(int32_t value) { return static_cast<uint32_t>(value); }
inline int32_t trunc_i32_i64(int64_t value) { return static_cast<int32_t>(value); }

inline float convert_s_f32_i32(int32_t value) { return static_cast<float>(value); }
inline float convert_u_f32_i32(int32_t value) { return static_cast<float>(static_cast<uint32_t>(value)); }
inline float convert_s_f32_i64(int64_t value) { return static_cast<float>(value); }
inline float convert_u_f32_i64(int64_t value) { return static_cast<float>(static_cast<uint64_t>(value)); }
inline double convert_s_f64_i32(int32_t value) { return value; }
inline double convert_u_f64_i32(int32_t value) { return static_cast<uint32_t>(value); }
inline double convert_s_f64_i64(int64_t value) { return static_cast<double>(value); }
inline double convert_u_f64_i64(int64_t value) { return static_cast<double>(static_cast<uint64_t>(value)); }

inline int32_t convert_s_i32_f32(float value) { return convert::saturate<int32_t>(value); }
inline int32_t convert_u_i32_f32(float value) { return static_cast<int32_t>(convert::saturate<uint32_t>(value)); }
inline int64_t convert_s_i64_f32(float value) { return convert::saturate<int64_t>(value); }
inline int64_t convert_u_i64_f32(float value) { return static_cast<int64_t>(convert::saturate<uint64_t>(value)); }
inline int32_t convert_s_i32_f64(double value) { return convert::saturate<int32_t>(value); }
inline int32_t convert_u_i32_f64(double value) { return static_cast<int32_t>(convert::saturate<uint32_t>(value)); }
inline int64_t convert_s_i64_f64(double value) { return convert::saturate<int64_t>(value); }
inline int64_t convert_u_i64_f64(double value) { return static_cast<int64_t>(convert::saturate<uint64_t>(value)); }

inline double extend_f64_f32(float value) { return value; }
inline float trunc_f32_f64(double value) { return static_cast<float>(value); }
inline float trunc_zero_f32_f64(double value) { return value < 0 ? convert::up(value) : convert::down(value); }
inline float trunc_up_f32_f64(double value) { return convert::up(value); }
inline float trunc_down_f32_f64(double value) { return convert::down(value); }
inline float trunc_away_f32_f64(double value) { return convert::away(value); }

inline float extend_f32_f16(int32_t bits) { return convert::half_to_float(static_cast<uint16_t>(bits)); }
inline int32_t trunc_f16_f32(float value) { return convert::float_to_half(value); }
inline float extend_f32_bf16(int32_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
inline int32_t trunc_bf16_f32(float value) { return convert::float_to_bfloat(value); }

}  // namespace baton::vm::ops
