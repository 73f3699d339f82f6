/* Functions of math.h that kernels for the CPU have without a C library (../c_math.c, ../calls.c): no errno, numbers are
   rounded to nearest. For kernels alone: a host's code has its own. */
#ifndef BATON_BUILTINS_MATH_H_
#define BATON_BUILTINS_MATH_H_

/* Each for double, and with an f for float. */
/* clang-format off */
#define BATON_MATH_OF_ONE_(F)                                                                             \
  F(acos) F(acosh) F(asin) F(asinh) F(atan) F(atanh) F(cbrt) F(ceil) F(cos) F(cosh) F(erf) F(exp) F(exp2) \
  F(exp10) F(expm1) F(fabs) F(floor) F(log) F(log10) F(log1p) F(log2) F(nearbyint) F(rint) F(round)       \
  F(roundeven) F(sin) F(sinh) F(sqrt) F(tan) F(tanh) F(trunc)
#define BATON_MATH_OF_TWO_(F) F(atan2) F(copysign) F(fdim) F(fmax) F(fmin) F(fmod) F(hypot) F(pow)
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif
#define BATON_MATH_DECLARE_(name) \
  double name(double x);          \
  float name##f(float x);
BATON_MATH_OF_ONE_(BATON_MATH_DECLARE_)
#undef BATON_MATH_DECLARE_
#define BATON_MATH_DECLARE_(name)  \
  double name(double x, double y); \
  float name##f(float x, float y);
BATON_MATH_OF_TWO_(BATON_MATH_DECLARE_)
#undef BATON_MATH_DECLARE_
double fma(double x, double y, double z);
float fmaf(float x, float y, float z);
void sincos(double x, double* sine, double* cosine);
void sincosf(float x, float* sine, float* cosine);
#ifdef __cplusplus
}
#endif

#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

#ifndef __cplusplus
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)
#define isnan(x) __builtin_isnan(x)
#define signbit(x) __builtin_signbit(x)
#endif

#endif /* BATON_BUILTINS_MATH_H_ */
