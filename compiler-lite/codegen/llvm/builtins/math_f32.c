// f32 math: what programs meet often, computed in f32 alone, because most GPUs do f64 at a small part of that rate and
// processors at half of it. math.c includes it when it is compiled for one that has fused multiply-add;
// the other functions go through f64 there.
//
// Everything stands on fused multiply-add. Errors in units in the last place, the largest over every seventh float,
// against f64 (tests/compiler-lite/codegen/llvm/builtins/math_f32_test.cpp holds them to that at each exponent):
//
//   tanh 1.35  log 0.90  log2 1.05  log10 1.02  log1p 1.51  expm1 1.44  exp2 0.87  erf 1.16  sin 1.56  cos 1.57

#include <stdint.h>

#define GPU_INLINE static inline __attribute__((always_inline))

GPU_INLINE uint32_t word_of(float x) { return __builtin_bit_cast(uint32_t, x); }
GPU_INLINE float float_of(uint32_t x) { return __builtin_bit_cast(float, x); }
GPU_INLINE float fma_of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GPU_INLINE float magnitude(float x) { return float_of(word_of(x) & 0x7FFFFFFFu); }
GPU_INLINE float sign_as(float x, float sign) {
  return float_of((word_of(x) & 0x7FFFFFFFu) | (word_of(sign) & 0x80000000u));
}
// Of a normal number whose reciprocal is one, too.
GPU_INLINE float reciprocal(float x) {
#ifdef __NVPTX__
  const float near = __nvvm_rcp_approx_ftz_f(x);
  return fma_of(near, fma_of(-x, near, 1.0f), near);
#else
  return 1.0f / x;
#endif
}

#define GPU_ROUNDER 0x1.8p23f

// x = k * ln(2) + r with |r| <= ln(2) / 2; k stands in the low bits of `shifted`.
struct scaled_f32 {
  float shifted, r;
};
GPU_INLINE struct scaled_f32 scale_exp(float x) {
  const float shifted = fma_of(x, 1.44269504f, GPU_ROUNDER), k = shifted - GPU_ROUNDER;
  struct scaled_f32 result = {shifted, fma_of(k, -0x1.7f7d1cp-20f, fma_of(k, -0x1.62e4p-1f, x))};
  return result;
}
// e^r - 1
GPU_INLINE float expm1_near_zero(float r) {
  float p = 1.989198131e-04f;
  p = fma_of(p, r, 1.393454193e-03f);
  p = fma_of(p, r, 8.333310024e-03f);
  p = fma_of(p, r, 4.166645681e-02f);
  p = fma_of(p, r, 1.666666668e-01f);
  p = fma_of(p, r, 0.5f);
  return fma_of(p, r * r, r);
}
// 2^k for k of -126 to 127 in the low bits of what was shifted.
GPU_INLINE float power_in(float shifted) { return float_of((word_of(shifted) << 23) + 0x3F800000u); }

// e^x for x of -87 to 88.
GPU_INLINE float exp_in_range(float x) {
  const struct scaled_f32 s = scale_exp(x);
  const float scale = power_in(s.shifted);
  return fma_of(expm1_near_zero(s.r), scale, scale);
}

GPU_INLINE float gpu_expm1(float x) {
  const float low = x < -30.0f ? -30.0f : x, clamped = low > 89.0f ? 89.0f : low;
  const struct scaled_f32 s = scale_exp(clamped);
  // Half of it: k may be 128.
  const float half = power_in(s.shifted - 1.0f), p = expm1_near_zero(s.r);
  const float value = 2.0f * fma_of(p, half, half - 0.5f);
  const float near = s.shifted == GPU_ROUNDER ? p : value;
  return x == 0.0f || x != x ? x : near;
}

GPU_INLINE float gpu_exp2(float x) {
  const float low = x < -160.0f ? -160.0f : x, clamped = low > 130.0f ? 130.0f : low;
  const float shifted = clamped + GPU_ROUNDER, r = clamped - (shifted - GPU_ROUNDER);
  float p = 1.529750254e-05f;
  p = fma_of(p, r, 1.546167698e-04f);
  p = fma_of(p, r, 1.333350194e-03f);
  p = fma_of(p, r, 9.618056097e-03f);
  p = fma_of(p, r, 5.550410884e-02f);
  p = fma_of(p, r, 2.402265093e-01f);
  p = fma_of(p, r, 6.931471806e-01f);
  // In two halves, so that neither leaves the range of exponents before the result does.
  const uint32_t k = word_of(shifted) - word_of(GPU_ROUNDER), half = ((k + 512u) >> 1) - 256u;
  const float value = fma_of(p, r, 1.0f) * float_of((half + 127u) << 23) * float_of((k - half + 127u) << 23);
  return x != x ? x : value;
}

GPU_INLINE float gpu_tanh(float x) {
  const float a = magnitude(x), z = x * x;
  float p = 2.370765640e-03f;
  p = fma_of(p, z, -8.410070802e-03f);
  p = fma_of(p, z, 2.178832200e-02f);
  p = fma_of(p, z, -5.396155178e-02f);
  p = fma_of(p, z, 1.333331287e-01f);
  p = fma_of(p, z, -3.333333323e-01f);
  const float near = fma_of(p * z, x, x);
  const float e = exp_in_range(2.0f * (a > 10.0f ? 10.0f : a));
  const float far = fma_of(-2.0f, reciprocal(e + 1.0f), 1.0f);
  return x != x ? x : sign_as(a < 0.6f ? near : far, x);
}

// x = 2^exponent * (1 + f), with 1 + f between 2/3 and 4/3.
struct parts_f32 {
  float exponent, f;
};
GPU_INLINE struct parts_f32 split_f32(float x) {
  const int tiny = x < 0x1p-126f;
  const uint32_t bits = word_of(tiny ? x * 0x1p23f : x);
  const uint32_t power = (bits - 0x3F2AAAABu) & 0xFF800000u;
  struct parts_f32 result = {(float)((int32_t)power >> 23) - (tiny ? 23.0f : 0.0f), float_of(bits - power) - 1.0f};
  return result;
}
// (ln(1 + f) - f) / f^2
GPU_INLINE float log_rest(float f) {
  float p = 1.161216580e-01f;
  p = fma_of(p, f, -1.272629036e-01f);
  p = fma_of(p, f, 1.085328767e-01f);
  p = fma_of(p, f, -1.222135893e-01f);
  p = fma_of(p, f, 1.429617901e-01f);
  p = fma_of(p, f, -1.667797368e-01f);
  p = fma_of(p, f, 1.999985317e-01f);
  p = fma_of(p, f, -2.499984136e-01f);
  p = fma_of(p, f, 3.333333366e-01f);
  return fma_of(p, f, -5.000000035e-01f);
}
// Zero, infinity, NaN and negative numbers.
GPU_INLINE float log_edges_f32(float x, float value) {
  value = x == 0.0f ? -__builtin_inff() : value;
  value = x < 0.0f ? __builtin_nanf("") : value;
  return x == __builtin_inff() || x != x ? x : value;
}
GPU_INLINE float log_of_parts(struct parts_f32 part) {
  const float f = part.f, value = fma_of(f * f, log_rest(f), f);
  return fma_of(part.exponent, 0x1.62e43p-1f, fma_of(part.exponent, -0x1.05c61p-29f, value));
}
GPU_INLINE float gpu_log(float x) { return log_edges_f32(x, log_of_parts(split_f32(x))); }

// exponent * unit + ln(1 + f) * factor; the factors are in two parts, the first of few bits for the exponent.
GPU_INLINE float log_in_base(float x, float unit, float unit_low, float factor, float factor_low) {
  const struct parts_f32 part = split_f32(x);
  const float f = part.f, rest = f * f * log_rest(f);
  const float main = f * factor, lost = fma_of(f, factor, -main);
  const float low = fma_of(rest, factor, fma_of(f, factor_low, lost));
  const float whole = part.exponent * unit, sum = whole + main;
  // What the sum lost: the exponent's part is the larger one, or zero.
  const float dropped = main - (sum - whole);
  return log_edges_f32(x, sum + (fma_of(part.exponent, unit_low, low) + dropped));
}
GPU_INLINE float gpu_log2(float x) { return log_in_base(x, 1.0f, 0.0f, 0x1.715476p+0f, 0x1.4ae0cp-26f); }
GPU_INLINE float gpu_log10(float x) {
  return log_in_base(x, 0x1.344p-2f, 0x1.3509f8p-18f, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f);
}

GPU_INLINE float gpu_log1p(float x) {
  const float u = 1.0f + x;
  // What the sum lost.
  const float lost = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  struct parts_f32 part = split_f32(u);
  const float scale = float_of((uint32_t)(127 - (int32_t)part.exponent) << 23);
  part.f = u > 0x1p64f ? part.f : fma_of(lost, scale, part.f);
  const float value = log_edges_f32(u, log_of_parts(part));
  return magnitude(x) < 0x1p-25f ? x : value;
}

GPU_INLINE float gpu_erf(float x) {
  const float a = magnitude(x), z = x * x;
  float p = -9.667044571e-06f;
  p = fma_of(p, z, 1.126595903e-04f);
  p = fma_of(p, z, -8.484080406e-04f);
  p = fma_of(p, z, 5.221031808e-03f);
  p = fma_of(p, z, -2.686543073e-02f);
  p = fma_of(p, z, 1.128378250e-01f);
  p = fma_of(p, z, -3.761263847e-01f);
  p = fma_of(p, z, 1.283791671e-01f);
  const float near = fma_of(p, x, x);
  // ln(1 - erf(b)) for b of 1 to 4.
  const float b = a > 4.0f ? 4.0f : a;
  float q = 1.637151415e-06f;
  q = fma_of(q, b, -4.605804269e-05f);
  q = fma_of(q, b, 5.968056257e-04f);
  q = fma_of(q, b, -4.759596293e-03f);
  q = fma_of(q, b, 2.642113601e-02f);
  q = fma_of(q, b, -1.100800829e-01f);
  q = fma_of(q, b, -6.318260516e-01f);
  q = fma_of(q, b, -1.130233435e+00f);
  q = fma_of(q, b, 3.201380497e-04f);
  return a < 1.0f || x != x ? near : sign_as(1.0f - exp_in_range(q), x);
}

// Beyond it pi/2 in three parts leaves too little of an angle.
#define GPU_LARGE_ANGLE 32768.0f
// x = quadrant * pi/2 + r, |r| <= pi/4.
struct angle_f32 {
  float r;
  uint32_t quadrant;
};
GPU_INLINE struct angle_f32 reduce_f32(float x) {
  const float shifted = fma_of(x, 0x1.45f306p-1f, GPU_ROUNDER), n = shifted - GPU_ROUNDER;
  const float high = fma_of(n, -0x1.921fb6p+0f, x), middle = fma_of(n, 0x1.777a5cp-25f, high);
  struct angle_f32 result = {fma_of(n, 0x1.ee59dap-50f, middle), word_of(shifted)};
  return result;
}
GPU_INLINE float sin_near_zero(float r) {
  const float z = r * r;
  float p = 2.724686108e-06f;
  p = fma_of(p, z, -1.984006298e-04f);
  p = fma_of(p, z, 8.333331831e-03f);
  p = fma_of(p, z, -1.666666666e-01f);
  return fma_of(p * z, r, r);
}
GPU_INLINE float cos_near_zero(float r) {
  const float z = r * r;
  float p = -2.729840127e-07f;
  p = fma_of(p, z, 2.480058055e-05f);
  p = fma_of(p, z, -1.388888764e-03f);
  p = fma_of(p, z, 4.166666666e-02f);
  return fma_of(z * z, p, fma_of(z, -0.5f, 1.0f));
}
GPU_INLINE float sin_of_angle(struct angle_f32 a, uint32_t quarter_turns) {
  const uint32_t q = a.quadrant + quarter_turns;
  const float value = q & 1u ? cos_near_zero(a.r) : sin_near_zero(a.r);
  return float_of(word_of(value) ^ ((q & 2u) << 30));
}
GPU_INLINE float gpu_sin_of(float x, struct angle_f32 angle) { return x == 0.0f ? x : sin_of_angle(angle, 0); }
GPU_INLINE float gpu_cos_of(float x, struct angle_f32 angle) { return (void)x, sin_of_angle(angle, 1); }
// For angles up to GPU_LARGE_ANGLE.
GPU_INLINE float gpu_sin(float x) { return gpu_sin_of(x, reduce_f32(x)); }
GPU_INLINE float gpu_cos(float x) { return gpu_cos_of(x, reduce_f32(x)); }
