// A slot keeps the bytes of each type, and the high half of a 32-bit one is zero.
#include "vm/value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace baton::vm {
namespace {

TEST(Value, KeepsNumbersOfEveryType) {
  EXPECT_EQ(Value::of(int32_t{-7}).as<int32_t>(), -7);
  EXPECT_EQ(Value::of(std::numeric_limits<int64_t>::min()).as<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Value::of(1.5f).as<float>(), 1.5f);
  EXPECT_EQ(Value::of(-0.0).as<double>(), 0.0);
  EXPECT_TRUE(std::signbit(Value::of(-0.0).as<double>()));
}

TEST(Value, LeavesTheHighHalfOf32BitNumbersZero) {
  EXPECT_EQ(Value::of(int32_t{-1}).bits, 0xffffffffu);
  EXPECT_EQ(Value::of(-0.0f).bits, 0x80000000u);
}

TEST(Value, BeginsAsZeroAndNull) {
  EXPECT_EQ(Value().bits, 0u);
  EXPECT_EQ(Value().ref, nullptr);
}

}  // namespace
}  // namespace baton::vm
