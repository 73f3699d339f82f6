// What counts as the same but for rounding: bytes say no type, so floats of every width, and integers that look like none.
#include "tools/replay/step_comparer.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <vector>

namespace baton::tools {
namespace {

template <typename T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
bool same(const std::vector<T>& expected, const std::vector<T>& found, const char* floats = "f32",
          double tolerance = 1e-4) {
  size_t first = 0;
  return same_but_for_rounding(bytes_of_values(expected), bytes_of_values(found), {tolerance, floats}, first);
}

TEST(StepComparerTest, FloatsMayBeOffByTheTolerance) {
  EXPECT_TRUE(same<float>({1, 2, -1000}, {1.00001F, 2, -1000.01F}));
  EXPECT_FALSE(same<float>({1, 2, -1000}, {1, 2, -1001}));
  EXPECT_TRUE(same<float>({0, 1}, {1e-6F, 1}));  // Beside 1, so little is nothing.
  EXPECT_FALSE(same<float>({0, 1}, {1e-2F, 1}));
  EXPECT_TRUE(same<float>({0.0F, 1}, {-0.0F, 1}));
}

TEST(StepComparerTest, EachFormatIsItsOwn) {
  EXPECT_TRUE(same<double>({1e300, 1e-3}, {1e300 * (1 + 1e-9), 1e-3}, "f64"));
  EXPECT_FALSE(same<double>({1, 2}, {1, 2.1}, "f64"));
  // 1 and its neighbour, in either place of a word.
  for (const auto& [floats, one] :
       {std::pair<const char*, uint16_t>{"f16", uint16_t{0x3c00}}, {"bf16", uint16_t{0x3f80}}}) {
    for (size_t place = 0; place < 4; ++place) {
      const std::vector<uint16_t> expected(4, one);
      std::vector<uint16_t> near = expected, far = expected;
      near[place] = static_cast<uint16_t>(one + 1);
      far[place] = static_cast<uint16_t>(one + 0x400);
      EXPECT_TRUE(same(expected, near, floats, 1e-2)) << floats;
      EXPECT_FALSE(same(expected, far, floats, 1e-2)) << floats;
    }
  }
}

TEST(StepComparerTest, IntegersDiffer) {
  for (const int32_t number : {0, 1, 7, 1000, 65535, 100000}) {
    EXPECT_FALSE(same<int32_t>({number, 5}, {number + 1, 5})) << number;
    EXPECT_FALSE(same<int64_t>({number, 5}, {number + 1, 5})) << number;
  }
  EXPECT_FALSE(same<uint8_t>({1, 2, 3}, {1, 2, 4}));
  EXPECT_FALSE(same<int64_t>({7, 5}, {8, 5}, "f64"));
}

TEST(StepComparerTest, WhatIsNoNumberDiffers) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(same<float>({nan, 1}, {nan, 1}));  // The same bytes.
  EXPECT_FALSE(same<float>({nan, 1}, {1, 1}));
  EXPECT_FALSE(same<float>({infinity, 1}, {1e38F, 1}));
  EXPECT_FALSE(same<float>({1, 1}, {nan, 1}));
}

TEST(StepComparerTest, WithoutToleranceBytesAreEqual) {
  EXPECT_FALSE(same<float>({1, 2}, {std::bit_cast<float>(std::bit_cast<uint32_t>(1.0F) + 1), 2}, "f32", 0));
  EXPECT_TRUE(same<float>({1, 2}, {1, 2}, "f32", 0));
  size_t first = 0;
  EXPECT_FALSE(
      same_but_for_rounding(bytes_of_values<uint8_t>({1, 2, 3}), bytes_of_values<uint8_t>({1, 2, 9}), {}, first));
  EXPECT_EQ(first, 2u);
  EXPECT_FALSE(
      same_but_for_rounding(bytes_of_values<uint8_t>({1, 2, 3}), bytes_of_values<uint8_t>({1, 2}), {1}, first));
}

TEST(StepComparerTest, ALineThatIsNoneIsToldSo) {
  for (const char* line : {"", "{", "[]", "null", "{\"number\":1}", "{\"writes\":3}"}) {
    EXPECT_FALSE(KeptStep::parse(line).has_value()) << line;
  }
  const KeptStep step{3, "dispatch", "a \"b\"", "r", "m.f", {{1, 2}, {3, 4}}};
  const auto back = KeptStep::parse(step.json());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->json(), step.json());
}

}  // namespace
}  // namespace baton::tools
