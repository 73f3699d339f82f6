// math_f32: what GPUs compute in f32 alone, on this processor, against the C library in f64: numbers of each exponent
// and sign, and the edges. Here a reciprocal is exact; on a GPU it is good to an ulp.
#include "compiler-lite/codegen/llvm/builtins/math_f32.c"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace baton::compiler_lite::codegen::cuda {
namespace {

struct Function {
  const char* name;
  float (*ours)(float);
  double (*theirs)(double);
  float magnitude_max;
  double ulps;
};

constexpr float kAll = std::numeric_limits<float>::infinity();
const Function kFunctions[] = {
    {"tanh", gpu_tanh, std::tanh, kAll, 1.5},         {"log", gpu_log, std::log, kAll, 1.0},
    {"log2", gpu_log2, std::log2, kAll, 1.2},         {"log10", gpu_log10, std::log10, kAll, 1.2},
    {"log1p", gpu_log1p, std::log1p, kAll, 1.6},      {"expm1", gpu_expm1, std::expm1, kAll, 1.6},
    {"exp2", gpu_exp2, std::exp2, kAll, 1.0},         {"erf", gpu_erf, std::erf, kAll, 1.3},
    {"sin", gpu_sin, std::sin, GPU_LARGE_ANGLE, 1.7}, {"cos", gpu_cos, std::cos, GPU_LARGE_ANGLE, 1.7},
};

// Units in the last place between a value and the truth. What rounds to the same float is no distance.
double distance(float value, double truth) {
  const float rounded = static_cast<float>(truth);
  if (std::isnan(value) || std::isnan(truth)) return std::isnan(value) && std::isnan(truth) ? 0 : 1e30;
  if (value == rounded) return std::signbit(value) == std::signbit(rounded) ? 0 : 1e30;
  if (std::isinf(value) || std::isinf(rounded)) return 1e30;
  const float magnitude = std::max(std::fabs(rounded), std::numeric_limits<float>::min());
  return std::fabs(static_cast<double>(value) - truth) / std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

// Neighbours of powers of two, and some between them.
TEST(MathF32Test, IsNearTheTruthAtEveryExponent) {
  constexpr uint32_t kMantissas = 256, kStep = (1u << 23) / kMantissas;
  for (const Function& function : kFunctions) {
    double worst = 0;
    float at = 0;
    for (uint32_t high = 0; high < 512 * kMantissas; ++high) {
      // An odd number in the low bits, another one each time.
      const float x = std::bit_cast<float>(high * kStep + (high * 2654435761u >> 9) % kStep * (high % 4 != 0));
      if (!(std::fabs(x) <= function.magnitude_max)) continue;
      const double off = distance(function.ours(x), function.theirs(static_cast<double>(x)));
      if (off > worst) worst = off, at = x;
    }
    EXPECT_LE(worst, function.ulps) << function.name << "(" << at << ") = " << function.ours(at) << ", not "
                                    << function.theirs(static_cast<double>(at));
    RecordProperty(std::string(function.name) + "_ulps", std::to_string(worst));
  }
}

TEST(MathF32Test, KeepsTheEdges) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const Function& function : kFunctions) {
    for (const float x : {0.0f, -0.0f, inf, -inf, nan, 1e-45f, -1e-45f, 1.0f, -1.0f, 3e38f, -3e38f, 88.72f, 88.73f,
                          127.99f, 128.0f, -149.0f, -150.0f, 0.5f, 2.0f}) {
      if (!(std::fabs(x) <= function.magnitude_max) && !std::isnan(x)) continue;
      EXPECT_LE(distance(function.ours(x), function.theirs(static_cast<double>(x))), function.ulps)
          << function.name << "(" << x << ") = " << function.ours(x);
    }
  }
}

}  // namespace
}  // namespace baton::compiler_lite::codegen::cuda
