// Math that kernels call, as bitcode that is linked into them, inlined, and vectorized by the optimizer. So everything
// here is straight-line code: choices are selects, tables and branches don't occur (fmod is the exception, and large
// angles on GPUs).
//
// f64 results are good to a few units in the last place. f32 results are correctly rounded but for rare ties, because
// most are computed in f64, at half the lanes; what is met often has versions of its own in f32, good to one or two
// units (math_f32.c), where there is fused multiply-add: on GPUs, and where BATON_FMA says so. exp has one everywhere.
// Angles up to 2^50 are reduced as exactly as small ones.
#include <stdint.h>
#if defined(__NVPTX__) || defined(BATON_FMA)
#define IN_F32 1
#include "math_f32.c"
#endif

#ifndef EXPORT  // c_math.c has its own.
#define EXPORT __attribute__((always_inline))
#endif
#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
INLINE double from_bits(uint64_t x) { return __builtin_bit_cast(double, x); }
INLINE uint32_t bits_of_f(float x) { return __builtin_bit_cast(uint32_t, x); }
INLINE float from_bits_f(uint32_t x) { return __builtin_bit_cast(float, x); }
INLINE double absolute(double x) { return from_bits(bits_of(x) & ~(1ull << 63)); }
INLINE double with_sign(double x, double sign) {
  return from_bits((bits_of(x) & ~(1ull << 63)) | (bits_of(sign) & (1ull << 63)));
}

#define INFINITY_F64 __builtin_inf()
#define NAN_F64 __builtin_nan("")
#define LN2_HIGH 0x1.62e42fefp-1
#define LN2_LOW 0x1.473de6af278edp-34
#define LOG2_E 1.4426950408889634074
#define PI 3.14159265358979323846

// Adding it rounds to an integer, which then stands in the low bits.
#define ROUNDER 0x1.8p52
#define ROUNDER_F 0x1.8p23f

// --- Rounding -------------------------------------------------------------------------------------------------------

INLINE double round_even(double x) {
  const double a = absolute(x);
  const double rounded = with_sign((a + 0x1p52) - 0x1p52, x);
  return a < 0x1p52 ? rounded : x;
}
INLINE double round_down(double x) {
  const double rounded = round_even(x);
  return with_sign(rounded > x ? rounded - 1.0 : rounded, x);
}
INLINE double round_up(double x) {
  const double rounded = round_even(x);
  return with_sign(rounded < x ? rounded + 1.0 : rounded, x);
}
INLINE double round_to_zero(double x) {
  const double a = absolute(x), rounded = round_even(a);
  return with_sign(rounded > a ? rounded - 1.0 : rounded, x);
}
// Halves go away from zero.
INLINE double round_half_away(double x) {
  const double a = absolute(x), whole = round_to_zero(a);
  return with_sign(a - whole >= 0.5 ? whole + 1.0 : whole, x);
}

// --- Exponential ----------------------------------------------------------------------------------------------------

// sum of r^k / k! for k = first..: |r| <= ln(2) / 2.
INLINE double exp_series(double r) {
  double p = 1.0 / 6227020800;
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  return p * r * r + r;
}

// 2^n for n of -1022 to 1023.
INLINE double power_of_two(uint64_t n) { return from_bits((n + 1023) << 52); }

INLINE double exp_f64(double x) {
  const double low = x < -746.0 ? -746.0 : x;
  const double clamped = low > 710.0 ? 710.0 : low;
  const double shifted = clamped * LOG2_E + ROUNDER;
  const double n = shifted - ROUNDER;
  const double r = (clamped - n * LN2_HIGH) - n * LN2_LOW;
  // In two halves, so that neither leaves the range of exponents before the result does.
  const uint64_t k = bits_of(shifted) - bits_of(ROUNDER);
  const uint64_t half = ((k + 2048) >> 1) - 1024;
  return (1.0 + exp_series(r)) * power_of_two(half) * power_of_two(k - half);
}

INLINE float exp_f32(float x) {
  const float low = x < -105.0f ? -105.0f : x;
  const float clamped = low > 90.0f ? 90.0f : low;
  const float shifted = clamped * 1.44269504f + ROUNDER_F;
  const float n = shifted - ROUNDER_F;
  const float r = (clamped - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r * r + r;
  const uint32_t k = bits_of_f(shifted) - bits_of_f(ROUNDER_F);
  const uint32_t half = ((k + 512) >> 1) - 256;
  return (1.0f + p) * from_bits_f((half + 127) << 23) * from_bits_f((k - half + 127) << 23);
}

INLINE double expm1_f64(double x) { return x == 0.0 ? x : absolute(x) < 0.34 ? exp_series(x) : exp_f64(x) - 1.0; }

// --- Logarithm ------------------------------------------------------------------------------------------------------

// x = 2^exponent * (1 + f), with 1 + f between sqrt(1/2) and sqrt(2).
struct parts {
  double exponent, f;
};
INLINE struct parts split(double x) {
  const int tiny = x < 0x1p-1022;
  const uint64_t bits = bits_of(tiny ? x * 0x1p54 : x);
  const uint64_t biased = (bits - 0x3FE6A09E667F3BCDull + (2048ull << 52)) >> 52;
  const uint64_t k = biased - 2048;
  // Small integers become floats by standing in the low bits of one.
  const double exponent = from_bits((biased & 0xFFF) | 0x4330000000000000ull) - (0x1p52 + 2048.0);
  struct parts result = {exponent - (tiny ? 54.0 : 0.0), from_bits(bits - (k << 52)) - 1.0};
  return result;
}

// ln(1 + f)
INLINE double log_series(double f) {
  const double s = f / (2.0 + f), z = s * s;
  double p = 2.0 / 23;
  p = p * z + 2.0 / 21;
  p = p * z + 2.0 / 19;
  p = p * z + 2.0 / 17;
  p = p * z + 2.0 / 15;
  p = p * z + 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  const double half_square = 0.5 * f * f;
  return f - (half_square - s * (half_square + p * z));
}

// Zero, infinity, NaN and negative numbers.
INLINE double log_edges(double x, double value) {
  value = x == 0.0 ? -INFINITY_F64 : value;
  value = x < 0.0 ? NAN_F64 : value;
  return x == INFINITY_F64 || x != x ? x : value;
}

INLINE double log_f64(double x) {
  const struct parts part = split(x);
  return log_edges(x, part.exponent * LN2_HIGH + (part.exponent * LN2_LOW + log_series(part.f)));
}
INLINE double log2_f64(double x) {
  const struct parts part = split(x);
  return log_edges(x, part.exponent + log_series(part.f) * LOG2_E);
}
INLINE double log10_f64(double x) {
  const struct parts part = split(x);
  return log_edges(x, part.exponent * 0.30102999566398119521 + log_series(part.f) * 0.43429448190325182765);
}
INLINE double log1p_f64(double x) {
  const double u = 1.0 + x;
  // What the sum lost, in first order.
  const double lost = u == INFINITY_F64 || u <= 0.0 ? 0.0 : (x - (u - 1.0)) / u;
  return x == 0.0 ? x : log_f64(u) + lost;
}

// --- Hyperbolic functions -------------------------------------------------------------------------------------------

INLINE double tanh_f64(double x) {
  const double a = absolute(x), e = expm1_f64(2.0 * (a > 22.0 ? 22.0 : a));
  return x != x ? x : with_sign(e / (e + 2.0), x);
}
INLINE double sinh_f64(double x) {
  const double a = absolute(x), e = expm1_f64(a), h = exp_f64(0.5 * a);
  return with_sign(a > 700.0 ? 0.5 * h * h : 0.5 * (e + e / (e + 1.0)), x);
}
INLINE double cosh_f64(double x) {
  const double h = exp_f64(0.5 * absolute(x)), e = h * h;
  return 0.5 * h * h + 0.5 / e;
}
INLINE double asinh_f64(double x) {
  const double a = absolute(x);
  const double small = log1p_f64(a + a * a / (1.0 + __builtin_sqrt(a * a + 1.0)));
  return with_sign(a > 0x1p28 ? log_f64(a) + 0.69314718055994530942 : small, x);
}
INLINE double acosh_f64(double x) {
  const double t = x - 1.0;
  const double near = log1p_f64(t + __builtin_sqrt(2.0 * t + t * t));
  return x < 1.0 ? NAN_F64 : x > 0x1p28 ? log_f64(x) + 0.69314718055994530942 : near;
}
INLINE double atanh_f64(double x) {
  const double a = absolute(x);
  return with_sign(0.5 * log1p_f64(2.0 * a / (1.0 - a)), x);
}

// --- Trigonometric functions ----------------------------------------------------------------------------------------

// x = quadrant * pi/2 + r, |r| near pi/4 or less.
struct angle {
  double r;
  uint64_t quadrant;
};
// From 2^50 on the quadrant is wrong and r may be anything: held here, the value is at least one that the function has.
// Before, 2/pi has an error of its own, and r reaches 0.99.
// The right one takes a product with 96 bits of 2/pi, found by the exponent: 3.5 times as long for all angles in f32.
INLINE double held(double r) { return r > 1.1 ? 1.1 : r < -1.1 ? -1.1 : r; }
INLINE struct angle reduce(double x) {
  const double shifted = x * (2.0 / PI) + ROUNDER;
  const double n = shifted - ROUNDER;
#ifdef IN_F32  // The products are fused, so they are exact.
  const double r = ((x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69;
#else  // Pi/2 is in parts of 27 bits, and n in a multiple of 2^25 and the rest: the first four products are exact.
  const double high = (n + 0x1p25 * ROUNDER) - 0x1p25 * ROUNDER, low = n - high;
  const double first = (x - high * 0x1.921fb54p+0) - low * 0x1.921fb54p+0;
  const double second = (first - high * 0x1.10b461p-30) - low * 0x1.10b461p-30;
  const double r = ((second - high * 0x1.a62633p-58) - low * 0x1.a62633p-58) - n * 0x1.45c06e0e68948p-86;
#endif
  struct angle result = {held(r), bits_of(shifted)};
  return result;
}
INLINE double sin_series(double r) {
  const double z = r * r;
  double p = 1.0 / 355687428096000.0;
  p = p * z - 1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  return r + r * z * p;
}
INLINE double cos_series(double r) {
  const double z = r * r;
  double p = -1.0 / 6402373705728000.0;
  p = p * z + 1.0 / 20922789888000.0;
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600;
  p = p * z - 1.0 / 3628800;
  p = p * z + 1.0 / 40320;
  p = p * z - 1.0 / 720;
  p = p * z + 1.0 / 24;
  return 1.0 - (0.5 * z - z * z * p);
}
INLINE double sin_of(struct angle a, uint64_t quarter_turns) {
  const uint64_t q = a.quadrant + quarter_turns;
  const double value = q & 1 ? cos_series(a.r) : sin_series(a.r);
  return from_bits(bits_of(value) ^ ((q & 2) << 62));
}
INLINE double sin_f64(double x) { return x == 0.0 ? x : sin_of(reduce(x), 0); }
INLINE double cos_f64(double x) { return sin_of(reduce(x), 1); }
INLINE double tan_f64(double x) {
  const struct angle a = reduce(x);
  return x == 0.0 ? x : sin_of(a, 0) / sin_of(a, 1);
}

// a >= 0
INLINE double atan_positive(double a) {
  const int inverted = a > 1.0;
  const double b = inverted ? 1.0 / a : a;
  const int turned = b > 0.41421356237309504880;
  const double t = turned ? (b - 1.0) / (b + 1.0) : b, z = t * t;
  double p = 0.0;
#pragma clang loop unroll(full)
  for (int k = 43; k >= 3; k -= 2) p = (k & 2 ? -1.0 : 1.0) / k + z * p;
  // 1/k has the sign of (-1)^((k-1)/2): k = 3, 7, ... are the negative ones.
  const double series = t + t * z * p;
  const double whole = turned ? PI / 4 + series : series;
  return inverted ? PI / 2 - whole : whole;
}
INLINE double atan_f64(double x) { return x != x ? x : with_sign(atan_positive(absolute(x)), x); }
INLINE double atan2_f64(double y, double x) {
  const double ay = absolute(y), ax = absolute(x);
  const int both_infinite = ay == INFINITY_F64 && ax == INFINITY_F64;
  const double ratio = both_infinite ? 1.0 : ay == 0.0 && ax == 0.0 ? 0.0 : ay / ax;
  const double angle = atan_positive(ratio);
  const double turned = bits_of(x) >> 63 ? PI - angle : angle;
  return x != x || y != y ? x + y : with_sign(turned, y);
}
INLINE double asin_f64(double x) {
  const double rest = __builtin_sqrt((1.0 - x) * (1.0 + x));
  return absolute(x) > 1.0 ? NAN_F64 : atan2_f64(x, rest);
}
INLINE double acos_f64(double x) {
  return absolute(x) > 1.0 ? NAN_F64 : 2.0 * atan2_f64(__builtin_sqrt(1.0 - x), __builtin_sqrt(1.0 + x));
}

// --- Error function -------------------------------------------------------------------------------------------------

// ln(erfc(x) e^(x^2) / t) for t = 2 / (2 + x), as a Chebyshev series; computed with 60 digits for x of 0 to 28.
INLINE double erfc_series(double t) {
  static const double c[] = {
      -0.6121127969475525,     0.6066093233955929,      0.0140721642657179,      -0.008309243808055465,
      -0.0005536038880311841,  0.0002912283504420601,   1.6327895657316842e-05,  -1.4009715542737064e-05,
      -3.741121336050479e-08,  7.328204590957598e-07,   -5.696809232795093e-08,  -3.559657518631908e-08,
      6.844866119394046e-09,   1.2903532564413175e-09,  -5.505184661144976e-10,  -4.989915225539563e-12,
      3.263457327734244e-11,   -4.3459085348560314e-12, -1.2199958863280867e-12, 4.3561126044838e-13,
      -3.2351977925595395e-15, -2.3088780841593068e-14, 4.280159391996306e-15,   3.783600458528094e-16,
      -2.8591057657366927e-16};
  const double low = 1.0 / 15, u2 = 2.0 * ((2.0 * t - (1.0 + low)) / (1.0 - low));
  double b1 = 0.0, b2 = 0.0;
#pragma clang loop unroll(full)
  for (int k = 24; k > 0; --k) {
    const double b = u2 * b1 - b2 + c[k];
    b2 = b1;
    b1 = b;
  }
  return 0.5 * u2 * b1 - b2 + c[0];
}
// 2/sqrt(pi) * sum of (-1)^k x^(2k+1) / (k! (2k+1)), |x| <= 1/2.
INLINE double erf_near_zero(double x) {
  const double z = x * x;
  double p = 1.0 / (479001600.0 * 25);
  p = p * z - 1.0 / (39916800.0 * 23);
  p = p * z + 1.0 / (3628800.0 * 21);
  p = p * z - 1.0 / (362880.0 * 19);
  p = p * z + 1.0 / (40320.0 * 17);
  p = p * z - 1.0 / (5040.0 * 15);
  p = p * z + 1.0 / (720.0 * 13);
  p = p * z - 1.0 / (120.0 * 11);
  p = p * z + 1.0 / (24.0 * 9);
  p = p * z - 1.0 / (6.0 * 7);
  p = p * z + 1.0 / 10;
  p = p * z - 1.0 / 3;
  return 1.12837916709551257390 * (x + x * z * p);
}
INLINE double erf_f64(double x) {
  const double a = absolute(x) > 6.0 ? 6.0 : absolute(x);
  const double t = 2.0 / (2.0 + a);
  const double far = 1.0 - t * exp_f64(erfc_series(t) - a * a);
  return x != x || x == 0.0 ? x : absolute(x) < 0.5 ? erf_near_zero(x) : with_sign(far, x);
}

// --- Powers ---------------------------------------------------------------------------------------------------------

INLINE double cbrt_f64(double x) {
  const double a = absolute(x);
  const double guess = exp_f64(log_f64(a) * (1.0 / 3));
  const double better = guess - (guess * guess * guess - a) / (3.0 * guess * guess);
  return a == 0.0 || a == INFINITY_F64 || x != x ? x : with_sign(better, x);
}

// x^y through the logarithm is off by |y ln x| units in the last place; small whole powers are multiplied out.
INLINE double pow_whole(double x, double y) {
  const double a = absolute(y);
  const uint64_t n = bits_of(a + ROUNDER) - bits_of(ROUNDER);
  double result = 1.0, power = x;
#pragma clang loop unroll(full)
  for (int i = 0; i < 6; ++i) {
    result = n >> i & 1 ? result * power : result;
    power *= power;
  }
  return y < 0.0 ? 1.0 / result : result;
}
INLINE double pow_by_log(double x, double y) {
  const double a = absolute(x), whole = round_to_zero(y);
  const int is_whole = whole == y;
  const int is_odd = is_whole && absolute(y) < 0x1p53 && round_to_zero(0.5 * y) * 2.0 != y;
  double value = exp_f64(y * log_f64(a));
  value = a == 1.0 ? 1.0 : value;
  value = x < 0.0 && a != INFINITY_F64 && !is_whole ? NAN_F64 : value;
  value = is_odd ? with_sign(value, x) : value;
  value = x != x || y != y ? x + y : value;
  return y == 0.0 || x == 1.0 ? 1.0 : value;
}
INLINE double pow_f64(double x, double y) {
  const double value = pow_by_log(x, y);
  return round_to_zero(y) == y && absolute(y) < 64.0 ? pow_whole(x, y) : value;
}

// --- Remainder ------------------------------------------------------------------------------------------------------

// Exact, as C says: long division on the bits, one a step.
INLINE double fmod_f64(double x, double y) {
  const uint64_t sign = bits_of(x) & (1ull << 63);
  uint64_t a = bits_of(x) & ~(1ull << 63), b = bits_of(y) & ~(1ull << 63);
  if (b == 0 || a >= 0x7FF0000000000000ull || b > 0x7FF0000000000000ull) return NAN_F64;
  if (a < b) return x;
  int64_t ea = (int64_t)(a >> 52), eb = (int64_t)(b >> 52);
  a = (a & 0xFFFFFFFFFFFFFull) | (ea ? 1ull << 52 : 0);
  b = (b & 0xFFFFFFFFFFFFFull) | (eb ? 1ull << 52 : 0);
  ea += !ea;
  eb += !eb;
  while (!(a >> 52)) a <<= 1, --ea;
  while (!(b >> 52)) b <<= 1, --eb;
  for (; ea > eb; --ea) {
    if (a >= b) a -= b;
    a <<= 1;
  }
  if (a >= b) a -= b;
  if (a == 0) return from_bits(sign);
  while (!(a >> 52)) a <<= 1, --ea;
  // Exact: what is shifted out of a denormal came from shifting b in.
  const uint64_t bits = ea > 0 ? (a & 0xFFFFFFFFFFFFFull) | (uint64_t)ea << 52 : a >> (1 - ea);
  return from_bits(sign | bits);
}

// a * b + c with one rounding where it matters: the product's error is computed and added last.
INLINE double fma_f64(double a, double b, double c) {
  const double split_a = a * 134217729.0, split_b = b * 134217729.0;
  const double ah = split_a - (split_a - a), al = a - ah, bh = split_b - (split_b - b), bl = b - bh;
  const double p = a * b, pe = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
  const double s = p + c, bb = s - p, se = (p - (s - bb)) + (c - bb);
  const double corrected = s + (se + pe);
  return corrected == corrected && absolute(p) < 0x1p970 ? corrected : p + c;
}

// --- What kernels call ----------------------------------------------------------------------------------------------

#define UNARY(name, function)                                             \
  EXPORT double baton_math_##name##_f64(double x) { return function(x); } \
  EXPORT float baton_math_##name##_f32(float x) { return (float)function((double)x); }
// With a version in f32.
#ifdef IN_F32
#define UNARY_F32(name, function)                                         \
  EXPORT double baton_math_##name##_f64(double x) { return function(x); } \
  EXPORT float baton_math_##name##_f32(float x) { return gpu_##name(x); }
#else
#define UNARY_F32 UNARY
#endif
#ifdef __NVPTX__
#define ANGLE_F32(name, function)                                              \
  EXPORT double baton_math_##name##_f64(double x) { return function(x); }      \
  EXPORT float baton_math_##name##_f32(float x) {                              \
    if (!(magnitude(x) <= GPU_LARGE_ANGLE)) return (float)function((double)x); \
    return gpu_##name(x);                                                      \
  }
#elif defined(IN_F32)
// x = n * pi/2 + r: only this is done in f64, for any angle below 2^50.
INLINE struct angle_f32 reduce_in_f64(float x) {
  const double shifted = __builtin_fma((double)x, 2.0 / PI, ROUNDER), n = shifted - ROUNDER;
  const double high = __builtin_fma(-n, 0x1.921fb54442d18p+0, (double)x);
  struct angle_f32 result = {(float)held(__builtin_fma(-n, 0x1.1a62633145c07p-54, high)), (uint32_t)bits_of(shifted)};
  return result;
}
#define ANGLE_F32(name, function)                                         \
  EXPORT double baton_math_##name##_f64(double x) { return function(x); } \
  EXPORT float baton_math_##name##_f32(float x) { return gpu_##name##_of(x, reduce_in_f64(x)); }
#else
#define ANGLE_F32 UNARY
#endif
#define BINARY(name, function)                                                         \
  EXPORT double baton_math_##name##_f64(double x, double y) { return function(x, y); } \
  EXPORT float baton_math_##name##_f32(float x, float y) { return (float)function((double)x, (double)y); }

UNARY(acos, acos_f64)
UNARY(acosh, acosh_f64)
UNARY(asin, asin_f64)
UNARY(asinh, asinh_f64)
UNARY(atan, atan_f64)
UNARY(atanh, atanh_f64)
UNARY(cbrt, cbrt_f64)
UNARY(ceil, round_up)
ANGLE_F32(cos, cos_f64)
UNARY(cosh, cosh_f64)
UNARY_F32(erf, erf_f64)
UNARY_F32(expm1, expm1_f64)
UNARY(floor, round_down)
UNARY_F32(log, log_f64)
UNARY_F32(log10, log10_f64)
UNARY_F32(log1p, log1p_f64)
UNARY_F32(log2, log2_f64)
UNARY(round, round_half_away)
UNARY(roundeven, round_even)
ANGLE_F32(sin, sin_f64)
UNARY(sinh, sinh_f64)
UNARY(tan, tan_f64)
UNARY_F32(tanh, tanh_f64)
UNARY(trunc, round_to_zero)
BINARY(atan2, atan2_f64)
BINARY(fmod, fmod_f64)
BINARY(powf, pow_f64)

EXPORT double baton_math_exp_f64(double x) { return exp_f64(x); }
EXPORT float baton_math_exp_f32(float x) { return exp_f32(x); }
EXPORT double baton_math_exp2_f64(double x) {
  const double n = round_even(x < -1080.0 ? -1080.0 : x > 1025.0 ? 1025.0 : x);
  const double rest = x < -1080.0 || x > 1025.0 ? 0.0 : x - n;
  const uint64_t k = bits_of(n + ROUNDER) - bits_of(ROUNDER), half = ((k + 4096) >> 1) - 2048;
  const double value = (1.0 + exp_series(rest * 0.69314718055994530942)) * power_of_two(half) * power_of_two(k - half);
  return x != x ? x : value;
}
#ifdef IN_F32
EXPORT float baton_math_exp2_f32(float x) { return gpu_exp2(x); }
#else
EXPORT float baton_math_exp2_f32(float x) { return (float)baton_math_exp2_f64((double)x); }
#endif
EXPORT double baton_math_rsqrt_f64(double x) { return 1.0 / __builtin_sqrt(x); }
EXPORT float baton_math_rsqrt_f32(float x) { return 1.0f / __builtin_sqrtf(x); }
EXPORT double baton_math_fma_f64(double a, double b, double c) { return fma_f64(a, b, c); }
EXPORT float baton_math_fma_f32(float a, float b, float c) { return (float)((double)a * (double)b + (double)c); }
