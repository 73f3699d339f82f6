// Elements as numbers and text: every 16-bit float goes through unharmed, roundings are to nearest even.
#include "hal/element_value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace baton::hal {
namespace {

uint16_t stored(ElementType type, double value) {
  uint16_t bits = 0;
  store_float(type, value, reinterpret_cast<std::byte*>(&bits));
  return bits;
}

std::string text_of(ElementType type, uint64_t bits) {
  std::string text;
  append_element_text(text, type, reinterpret_cast<const std::byte*>(&bits));
  return text;
}

TEST(ElementValueTest, EveryShortFloatGoesThrough) {
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto element = static_cast<uint16_t>(bits);
      const double value = load_float(type, reinterpret_cast<const std::byte*>(&element));
      if (std::isnan(value)) continue;  // Which one is not kept.
      ASSERT_EQ(stored(type, value), element) << element_type_name(type);
    }
  }
}

// A bf16 is the upper half of an f32.
TEST(ElementValueTest, BrainFloatsAreHalvesOfFloats) {
  for (const uint32_t bits : {0x3f800000u, 0x3f810000u, 0x00010000u, 0x7f7f0000u, 0xc2480000u}) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    EXPECT_EQ(stored(ElementType::kBF16, static_cast<double>(value)), bits >> 16);
  }
}

TEST(ElementValueTest, RoundingIsToNearestEven) {
  EXPECT_EQ(stored(ElementType::kF16, 1 + 1.0 / 2048), 0x3c00);         // Half way: to the even one below.
  EXPECT_EQ(stored(ElementType::kF16, 1 + 3.0 / 2048), 0x3c02);         // Half way: to the even one above.
  EXPECT_EQ(stored(ElementType::kF16, 1 + 1.0 / 2048 + 1e-9), 0x3c01);  // No double rounding.
  EXPECT_EQ(stored(ElementType::kF16, 65519), 0x7bff);
  EXPECT_EQ(stored(ElementType::kF16, 65520), 0x7c00);
  EXPECT_EQ(stored(ElementType::kF16, -1e9), 0xfc00);
  EXPECT_EQ(stored(ElementType::kF16, std::ldexp(1, -25)), 0x0000);
  EXPECT_EQ(stored(ElementType::kF16, std::ldexp(1.5, -25)), 0x0001);
  EXPECT_EQ(stored(ElementType::kF16, std::ldexp(1, -14) - std::ldexp(1, -26)), 0x0400);  // Up into the normal ones.
  EXPECT_EQ(stored(ElementType::kF16, -0.0), 0x8000);
}

TEST(ElementValueTest, IntegersAreExtendedByTheirSign) {
  const uint64_t bits = 0xfffefdfcfbfaf9f8;
  const auto* element = reinterpret_cast<const std::byte*>(&bits);
  EXPECT_EQ(load_integer(ElementType::kI8, element), -8);
  EXPECT_EQ(load_integer(ElementType::kU8, element), 0xf8);
  EXPECT_EQ(load_integer(ElementType::kS16, element), int16_t{-0x608});
  EXPECT_EQ(load_integer(ElementType::kU32, element), 0xfbfaf9f8);
  EXPECT_EQ(load_integer(ElementType::kI1, element), 1);
  EXPECT_EQ(load_integer(ElementType::kI64, element), static_cast<int64_t>(bits));
}

TEST(ElementValueTest, TextIsShort) {
  EXPECT_EQ(text_of(ElementType::kI8, 0xff), "-1");
  EXPECT_EQ(text_of(ElementType::kU64, ~uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(text_of(ElementType::kF32, 0x3eaaaaab), "0.333333");
  EXPECT_EQ(text_of(ElementType::kF32, 0xffc00000), "NAN");
  EXPECT_EQ(text_of(ElementType::kF16, 0xfc00), "-INF");
  EXPECT_EQ(text_of(ElementType::kC64, 0xc000000000000000 | 0x3f800000), "1-2j");
}

}  // namespace
}  // namespace baton::hal
