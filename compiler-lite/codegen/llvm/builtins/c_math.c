// Functions of math.h for objects that users bring, which have no C library: those that kernels call (math.c) under
// their names in C, without errno. An object with a function of the same name has its own. Compiled to an object; the
// linker takes what is needed.
#define EXPORT static inline __attribute__((always_inline, unused))
#include "math.c"

#define C __attribute__((weak, visibility("hidden")))

#define ONE(name)                                                \
  C double name(double x) { return baton_math_##name##_f64(x); } \
  C float name##f(float x) { return baton_math_##name##_f32(x); }
#define TWO(name, ours)                                                       \
  C double name(double x, double y) { return baton_math_##ours##_f64(x, y); } \
  C float name##f(float x, float y) { return baton_math_##ours##_f32(x, y); }

ONE(acos)
ONE(acosh)
ONE(asin)
ONE(asinh)
ONE(atan)
ONE(atanh)
ONE(cbrt)
ONE(ceil)
ONE(cos)
ONE(cosh)
ONE(erf)
ONE(exp)
ONE(exp2)
ONE(expm1)
ONE(floor)
ONE(log)
ONE(log10)
ONE(log1p)
ONE(log2)
ONE(round)
ONE(roundeven)
ONE(sin)
ONE(sinh)
ONE(tan)
ONE(tanh)
ONE(trunc)
TWO(atan2, atan2)
TWO(fmod, fmod)
TWO(pow, powf)

C double fma(double a, double b, double c) { return baton_math_fma_f64(a, b, c); }
C float fmaf(float a, float b, float c) { return baton_math_fma_f32(a, b, c); }
// Numbers are rounded to nearest, always.
C double rint(double x) { return round_even(x); }
C float rintf(float x) { return (float)round_even((double)x); }
C double nearbyint(double x) { return round_even(x); }
C float nearbyintf(float x) { return (float)round_even((double)x); }
C double sqrt(double x) { return __builtin_sqrt(x); }
C float sqrtf(float x) { return __builtin_sqrtf(x); }
C double fabs(double x) { return absolute(x); }
C float fabsf(float x) { return (float)absolute((double)x); }
C double copysign(double x, double sign) { return with_sign(x, sign); }
C float copysignf(float x, float sign) { return (float)with_sign((double)x, (double)sign); }
C double fdim(double x, double y) { return x <= y ? 0.0 : x - y; }
C float fdimf(float x, float y) { return x <= y ? 0.0f : x - y; }
C double exp10(double x) { return baton_math_powf_f64(10.0, x); }
C float exp10f(float x) { return baton_math_powf_f32(10.0f, x); }
C float hypotf(float x, float y) {
  if (absolute((double)x) == INFINITY_F64 || absolute((double)y) == INFINITY_F64) return __builtin_inff();
  return (float)__builtin_sqrt((double)x * (double)x + (double)y * (double)y);
}
C double hypot(double x, double y) {
  const double a = absolute(x), b = absolute(y), large = a > b ? a : b, small = a > b ? b : a;
  if (a == INFINITY_F64 || b == INFINITY_F64) return INFINITY_F64;
  if (large == 0.0 || a != a || b != b) return a + b;
  // By a power of two, so that no square is too large or too small.
  const double by = from_bits((2046ull << 52) - (bits_of(large) & (2047ull << 52)));
  const double scale = bits_of(large) >> 52 == 0 ? 0x1p1022 : by == 0.0 ? 0x1p-1022 : by;
  return __builtin_sqrt(large * scale * (large * scale) + small * scale * (small * scale)) / scale;
}
// What compilers make of a sine and a cosine of the same angle.
C void sincos(double x, double* sine, double* cosine) {
  *sine = baton_math_sin_f64(x);
  *cosine = baton_math_cos_f64(x);
}
C void sincosf(float x, float* sine, float* cosine) {
  *sine = baton_math_sin_f32(x);
  *cosine = baton_math_cos_f32(x);
}
