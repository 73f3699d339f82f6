/* An object that calls the C library's math, as it is compiled for a program of the system. */
#define ONE(name, x)   \
  double name(double); \
  float name##f(float);
#define TWO(name, x, y)        \
  double name(double, double); \
  float name##f(float, float);
#include "c_math.inc"
#undef ONE
#undef TWO
double fma(double, double, double);
float fmaf(float, float, float);

#ifdef OWN_EXP
float expf(float x) { return x * 1000; }
#endif

void user_math(double* results) {
  static volatile double zero = 0; /* So that the compiler computes nothing. */
#define ONE(name, x) *results++ = name(x + zero), *results++ = name##f(x##f + (float)zero);
#define TWO(name, x, y) *results++ = name(x + zero, y), *results++ = name##f(x##f + (float)zero, y##f);
#include "c_math.inc"
  *results++ = fma(1.5 + zero, 2.25, -0.125);
  *results++ = fmaf(1.5f + (float)zero, 2.25f, -0.125f);
  *results++ = sin(0.5 + zero) + cos(0.5 + zero); /* A compiler makes one call of both. */
  *results++ = sinf(0.5f + (float)zero) + cosf(0.5f + (float)zero);
}
