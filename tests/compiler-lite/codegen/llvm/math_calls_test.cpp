// math_calls: every function of the math dialect and every small float type, against the C library, on each level.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/compiler-lite/codegen/compiled_groups.hpp"

namespace baton::compiler_lite::codegen {
namespace {

struct Function {
  const char* op;
  double (*reference)(double);
  double low, high;  // Where it is sampled.
  double ulps_f64;
};

// Sampled ranges leave out where the C library itself is far from the truth in f32 only.
const Function kFunctions[] = {
    {"acos", std::acos, -1, 1, 6},
    {"acosh", std::acosh, 1, 1e6, 6},
    {"asin", std::asin, -1, 1, 6},
    {"asinh", std::asinh, -1e6, 1e6, 6},
    {"atan", std::atan, -50, 50, 4},
    {"atanh", std::atanh, -0.999, 0.999, 6},
    {"cbrt", std::cbrt, -1e9, 1e9, 4},
    {"ceil", std::ceil, -100, 100, 0},
    {"cos", std::cos, -1000, 1000, 4},
    {"cosh", std::cosh, -80, 80, 120},
    {"erf", std::erf, -7, 7, 6},
    {"exp", std::exp, -80, 80, 4},
    {"exp2", std::exp2, -120, 120, 4},
    {"expm1", std::expm1, -5, 5, 6},
    {"floor", std::floor, -100, 100, 0},
    {"log", std::log, 1e-30, 1e30, 4},
    {"log10", std::log10, 1e-30, 1e30, 6},
    {"log1p", std::log1p, -0.99, 10, 6},
    {"log2", std::log2, 1e-30, 1e30, 6},
    {"round", std::round, -100, 100, 0},
    {"roundeven", std::nearbyint, -100, 100, 0},
    {"sin", std::sin, -1000, 1000, 4},
    {"sinh", std::sinh, -80, 80, 120},
    {"sqrt", std::sqrt, 0, 1e9, 0},
    {"tan", std::tan, -100, 100, 10},
    {"tanh", std::tanh, -20, 20, 6},
    {"trunc", std::trunc, -100, 100, 0},
};

std::string group_of(const std::string& op, const std::string& type) {
  return "func.func @" + op + "_" + type + "(%a: tensor<?x" + type + ">) -> tensor<?x" + type + "> {\n  %r = math." +
         op + " %a : tensor<?x" + type + ">\n  return %r : tensor<?x" + type + ">\n}\n";
}

template <typename T>
std::vector<T> samples(double low, double high) {
  std::vector<T> values;
  for (int i = 0; i <= 1000; ++i) values.push_back(static_cast<T>(low + (high - low) * i / 1000.0));
  for (int i = 0; i <= 60; ++i) {
    const double small = std::ldexp(1.37, -i);
    if (small >= low && small <= high) values.push_back(static_cast<T>(small));
    if (-small >= low && -small <= high) values.push_back(static_cast<T>(-small));
  }
  return values;
}

// Units in the last place of T between a value and the truth.
template <typename T>
double distance(T value, double truth) {
  if (std::isnan(truth) || std::isnan(static_cast<double>(value)))
    return std::isnan(truth) && std::isnan(static_cast<double>(value)) ? 0 : 1e30;
  if (static_cast<double>(value) == truth || static_cast<double>(value) == static_cast<double>(static_cast<T>(truth)))
    return 0;
  const T magnitude = std::max(std::fabs(static_cast<T>(truth)), std::numeric_limits<T>::min());
  const T unit = std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return std::fabs((static_cast<double>(value) - truth) / static_cast<double>(unit));
}

class MathCallsTest : public testing::TestWithParam<std::string> {
 protected:
  CompileOptions options() const {
    CompileOptions options;
    options.levels = {GetParam()};
    return options;
  }
};

TEST_P(MathCallsTest, AgreesWithTheCLibrary) {
  std::string text;
  for (const Function& function : kFunctions) text += group_of(function.op, "f32") + group_of(function.op, "f64");
  CompiledGroups groups(text, options());
  ASSERT_EQ(groups.messages(), "");
  for (const Function& function : kFunctions) {
    const std::vector<float> x32 = samples<float>(function.low, function.high);
    const std::vector<double> x64 = samples<double>(function.low, function.high);
    Tensor a32 = Tensor::of<float>({static_cast<int64_t>(x32.size())}, x32), r32 = a32;
    Tensor a64 = Tensor::of<double>({static_cast<int64_t>(x64.size())}, x64), r64 = a64;
    ASSERT_EQ(groups.run(std::string(function.op) + "_f32", {a32}, {&r32}), "");
    ASSERT_EQ(groups.run(std::string(function.op) + "_f64", {a64}, {&r64}), "");
    double worst32 = 0, worst64 = 0;
    const std::vector<float> got32 = r32.as<float>();
    const std::vector<double> got64 = r64.as<double>();
    for (size_t i = 0; i < x32.size(); ++i) {
      worst32 = std::max(worst32, distance(got32[i], function.reference(static_cast<double>(x32[i]))));
    }
    for (size_t i = 0; i < x64.size(); ++i) worst64 = std::max(worst64, distance(got64[i], function.reference(x64[i])));
    EXPECT_LE(worst32, 1.5) << function.op;
    EXPECT_LE(worst64, function.ulps_f64) << function.op;
    RecordProperty(std::string(function.op) + "_f32_ulps", std::to_string(worst32));
  }
}

// Up to 2^50 they are as good as those of small angles. Beyond, they have no right digit, and are sines still.
TEST_P(MathCallsTest, HoldsSinesOfHugeAngles) {
  std::string text;
  for (const char* op : {"sin", "cos"}) text += group_of(op, "f32") + group_of(op, "f64");
  CompiledGroups groups(text, options());
  ASSERT_EQ(groups.messages(), "");
  std::vector<double> angles;
  for (int exponent = 0; exponent < 1024; ++exponent)
    for (double part : {1.0, 1.3700001, -1.8312345678901, 1.5707963267948966})
      angles.push_back(std::ldexp(part, exponent));
  std::vector<float> small;
  for (double angle : angles) small.push_back(static_cast<float>(angle));
  Tensor a32 = Tensor::of<float>({static_cast<int64_t>(small.size())}, small), r32 = a32;
  Tensor a64 = Tensor::of<double>({static_cast<int64_t>(angles.size())}, angles), r64 = a64;
  for (const char* op : {"sin", "cos"}) {
    double (*const sine)(double) = std::sin;
    double (*const cosine)(double) = std::cos;
    double (*const reference)(double) = op[0] == 's' ? sine : cosine;
    ASSERT_EQ(groups.run(std::string(op) + "_f32", {a32}, {&r32}), "");
    ASSERT_EQ(groups.run(std::string(op) + "_f64", {a64}, {&r64}), "");
    for (size_t i = 0; i < angles.size(); ++i) {
      const double got32 = static_cast<double>(r32.as<float>()[i]), got64 = r64.as<double>()[i];
      EXPECT_LE(std::fabs(got64), 1) << op << "(" << angles[i] << ")";
      EXPECT_TRUE(std::isinf(small[i]) ? std::isnan(got32) : std::fabs(got32) <= 1) << op << "(" << small[i] << ")";
      if (std::fabs(angles[i]) > 0x1p50) continue;
      EXPECT_LE(distance(r32.as<float>()[i], reference(static_cast<double>(small[i]))), 1.6)
          << op << "(" << small[i] << ")";
      EXPECT_LE(distance(got64, reference(angles[i])), 4) << op << "(" << angles[i] << ")";
    }
  }
}

TEST_P(MathCallsTest, KeepsTheEdges) {
  std::string text;
  for (const char* op : {"exp", "log", "tanh", "erf", "sin", "floor", "cbrt", "log1p", "expm1"})
    text += group_of(op, "f32");
  text += R"(
func.func @pow(%a: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64> {
  %r = math.powf %a, %b : tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @atan2(%a: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64> {
  %r = math.atan2 %a, %b : tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @rem(%a: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64> {
  %r = arith.remf %a, %b : tensor<?xf64>
  return %r : tensor<?xf64>
})";
  CompiledGroups groups(text, options());
  ASSERT_EQ(groups.messages(), "");
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> edges = {0.0f,  -0.0f,  inf,  -inf,  nan,   1e-45f,  -1e-45f,
                                    3e38f, -3e38f, 1.0f, -1.0f, 88.7f, -103.9f, 200.0f};
  Tensor a = Tensor::of<float>({static_cast<int64_t>(edges.size())}, edges), r = a;
  const std::pair<const char*, double (*)(double)> functions[] = {
      {"exp", std::exp},     {"log", std::log},   {"tanh", std::tanh},   {"erf", std::erf},
      {"floor", std::floor}, {"cbrt", std::cbrt}, {"log1p", std::log1p}, {"expm1", std::expm1}};
  for (const auto& [name, reference] : functions) {
    ASSERT_EQ(groups.run(std::string(name) + "_f32", {a}, {&r}), "");
    const std::vector<float> got = r.as<float>();
    for (size_t i = 0; i < edges.size(); ++i) {
      const double truth = reference(static_cast<double>(edges[i]));
      EXPECT_LE(distance(got[i], truth), 1.5) << name << "(" << edges[i] << ") = " << got[i] << ", not " << truth;
      if (truth != 0.0) continue;
      EXPECT_EQ(std::signbit(got[i]), std::signbit(truth)) << name << "(" << edges[i] << ")";
    }
  }
  std::vector<double> xs, ys;
  const double values[] = {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           2.0,
                           -2.0,
                           0.5,
                           3.0,
                           -3.0,
                           1e300,
                           -1e300,
                           1e-310,
                           10.0,
                           7.25,
                           63.0,
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()};
  for (const double x : values) {
    for (const double y : values) xs.push_back(x), ys.push_back(y);
  }
  Tensor x = Tensor::of<double>({static_cast<int64_t>(xs.size())}, xs),
         y = Tensor::of<double>({static_cast<int64_t>(ys.size())}, ys);
  Tensor z = x;
  const std::tuple<const char*, double (*)(double, double), double> binary[] = {
      {"pow", std::pow, 200}, {"atan2", std::atan2, 4}, {"rem", std::fmod, 0}};
  for (const auto& [name, reference, ulps] : binary) {
    ASSERT_EQ(groups.run(name, {x, y}, {&z}), "");
    const std::vector<double> got = z.as<double>();
    for (size_t i = 0; i < xs.size(); ++i) {
      const double truth = reference(xs[i], ys[i]);
      EXPECT_LE(distance(got[i], truth), ulps)
          << name << "(" << xs[i] << ", " << ys[i] << ") = " << got[i] << ", not " << truth;
    }
  }
}

uint16_t half_bits(float value) { return __builtin_bit_cast(uint16_t, static_cast<_Float16>(value)); }
float of_half(uint16_t bits) { return static_cast<float>(__builtin_bit_cast(_Float16, bits)); }
uint16_t brain_bits(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if (value != value) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
float of_brain(uint16_t bits) { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }

TEST_P(MathCallsTest, ComputesSmallFloats) {
  std::string text;
  for (const char* t : {"f16", "bf16"}) {
    const std::string tensor = std::string("tensor<?x") + t + ">";
    text += std::string("func.func @") + t + "(%a: " + tensor + ", %b: " + tensor + ") -> " + tensor +
            " {\n  %1 = arith.mulf %a, %b : " + tensor + "\n  %2 = arith.addf %1, %a : " + tensor +
            "\n  return %2 : " + tensor + "\n}\n";
    text += std::string("func.func @from_f64_") + t + "(%a: tensor<?xf64>) -> " + tensor +
            " {\n  %1 = arith.truncf %a : tensor<?xf64> to " + tensor + "\n  return %1 : " + tensor + "\n}\n";
    text += std::string("func.func @exp_") + t + "(%a: " + tensor + ") -> " + tensor +
            " {\n  %1 = math.exp %a : " + tensor + "\n  return %1 : " + tensor + "\n}\n";
  }
  CompiledGroups groups(text, options());
  ASSERT_EQ(groups.messages(), "");
  std::vector<float> values;
  for (int i = 0; i < 2000; ++i)
    values.push_back(static_cast<float>((i - 1000) * (i - 1000) * (i % 2 ? 1 : -1)) * 0.000731f);
  for (const float special : {0.0f, -0.0f, 65504.0f, 65520.0f, 1e-7f, 5.9e-8f, 3e-8f, INFINITY, -INFINITY, NAN})
    values.push_back(special);
  const auto n = static_cast<int64_t>(values.size());
  for (const bool half : {true, false}) {
    const auto narrow = half ? half_bits : brain_bits;
    const auto widen = half ? of_half : of_brain;
    const std::string type = half ? "f16" : "bf16";
    std::vector<uint16_t> av, bv;
    std::vector<double> wide;
    for (size_t i = 0; i < values.size(); ++i) {
      av.push_back(narrow(values[i]));
      bv.push_back(narrow(values[values.size() - 1 - i]));
      wide.push_back(static_cast<double>(values[i]));
    }
    Tensor a = Tensor::of<uint16_t>({n}, av), b = Tensor::of<uint16_t>({n}, bv), r = a, e = a, t = a;
    Tensor w = Tensor::of<double>({n}, wide);
    ASSERT_EQ(groups.run(type, {a, b}, {&r}), "");
    ASSERT_EQ(groups.run("exp_" + type, {a}, {&e}), "");
    ASSERT_EQ(groups.run("from_f64_" + type, {w}, {&t}), "");
    for (size_t i = 0; i < av.size(); ++i) {
      const float x = widen(av[i]), y = widen(bv[i]);
      // Computed in f32, rounded once.
      const float expected = widen(narrow(x * y + x));
      const float got = widen(r.as<uint16_t>()[i]);
      ASSERT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
          << type << " " << x << " " << y << " " << got << " " << expected;
      const float truncated = widen(t.as<uint16_t>()[i]);
      ASSERT_TRUE(truncated == x || (std::isnan(truncated) && std::isnan(x)))
          << type << " " << values[i] << " " << truncated;
      const float power = widen(e.as<uint16_t>()[i]), truth = widen(narrow(std::exp(x)));
      ASSERT_TRUE(power == truth || std::fabs(power - truth) <= std::fabs(truth) * (half ? 0.001f : 0.008f) ||
                  (std::isnan(power) && std::isnan(truth)))
          << x;
    }
  }
}

TEST_P(MathCallsTest, ComputesSmallIntegersAndTruthValues) {
  CompiledGroups groups(R"(
func.func @bytes(%a: tensor<?xi8>, %b: tensor<?xi8>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi8>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a, %b : tensor<?xi8>, tensor<?xi8>) outs(%e : tensor<?xi32>) {
  ^bb0(%x: i8, %y: i8, %out: i32):
    %s = arith.addi %x, %y : i8
    %w = arith.extsi %s : i8 to i32
    %q = arith.floordivsi %w, %w : i32
    %p = arith.muli %w, %w : i32
    %t = arith.addi %p, %q : i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @less(%a: tensor<?xi8>, %b: tensor<?xi8>, %m: tensor<?xi1>) -> tensor<?xi1> {
  %r = arith.cmpi slt, %a, %b : tensor<?xi8>
  %s = arith.andi %r, %m : tensor<?xi1>
  return %s : tensor<?xi1>
}
func.func @dot(%a: tensor<17x40xi8>, %b: tensor<40x33xi8>) -> tensor<17x33xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<17x33xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<17x33xi32>) -> tensor<17x33xi32>
  %r = linalg.matmul ins(%a, %b : tensor<17x40xi8>, tensor<40x33xi8>) outs(%f : tensor<17x33xi32>) -> tensor<17x33xi32>
  return %r : tensor<17x33xi32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  std::vector<int8_t> av, bv;
  std::vector<uint8_t> mv;
  for (int i = 0; i < 1320; ++i) {
    av.push_back(static_cast<int8_t>(i * 37 % 251));
    bv.push_back(static_cast<int8_t>(i * 11 % 241 + (i % 241 == 0)));
    mv.push_back(i % 3 != 0);
    if (static_cast<int8_t>(av.back() + bv.back()) == 0) ++av.back();
  }
  const auto n = static_cast<int64_t>(av.size());
  Tensor a = Tensor::of<int8_t>({n}, av), b = Tensor::of<int8_t>({n}, bv), m = Tensor::of<uint8_t>({n}, mv);
  Tensor wide = Tensor::empty<int32_t>({n}), flags = Tensor::empty<uint8_t>({n});
  ASSERT_EQ(groups.run("bytes", {a, b}, {&wide}), "");
  ASSERT_EQ(groups.run("less", {a, b, m}, {&flags}), "");
  const std::vector<int32_t> got = wide.as<int32_t>();
  const std::vector<uint8_t> truth = flags.as<uint8_t>();
  for (size_t i = 0; i < av.size(); ++i) {
    const int32_t sum = static_cast<int8_t>(av[i] + bv[i]);
    ASSERT_EQ(got[i], sum * sum + 1) << i;
    ASSERT_EQ(truth[i], av[i] < bv[i] && mv[i]) << i;
  }
  Tensor x = Tensor::of<int8_t>({17, 40}, {av.begin(), av.begin() + 680}), y = Tensor::of<int8_t>({40, 33}, bv);
  Tensor r = Tensor::empty<int32_t>({17, 33});
  ASSERT_EQ(groups.run("dot", {x, y}, {&r}), "");
  for (size_t i = 0; i < 17 * 33; ++i) {
    int32_t sum = 0;
    for (size_t k = 0; k < 40; ++k) sum += av[i / 33 * 40 + k] * bv[k * 33 + i % 33];
    ASSERT_EQ(r.as<int32_t>()[i], sum) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, MathCallsTest, testing::ValuesIn(host_levels()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace baton::compiler_lite::codegen
