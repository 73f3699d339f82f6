// Loads and stores need no alignment, and the arithmetic of ranges cannot overflow.
#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace baton {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(Bytes, LoadsAndStoresAnywhereInLittleEndian) {
  std::array<unsigned char, 9> bytes = {};
  store_bytes(bytes.data() + 1, uint32_t{0x11223344});
  EXPECT_EQ(bytes, (std::array<unsigned char, 9>{0, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, 0}));
  EXPECT_EQ(load_bytes<uint32_t>(bytes.data() + 1), 0x11223344u);
  EXPECT_EQ(load_bytes<uint16_t>(bytes.data() + 3), 0x1122u);
  store_bytes(bytes.data() + 1, -0.5);
  EXPECT_EQ(load_bytes<double>(bytes.data() + 1), -0.5);
}

TEST(RangeInside, HoldsUpToTheLimit) {
  static_assert(range_inside(0, 0, 0));
  static_assert(range_inside(0, 8, 8));
  static_assert(range_inside(8, 0, 8));
  static_assert(range_inside(7, 1, 8));
  static_assert(!range_inside(0, 1, 0));
  static_assert(!range_inside(8, 1, 8));
  static_assert(!range_inside(9, 0, 8));
  static_assert(!range_inside(0, 9, 8));
}

// Each of these sums wraps around to something small.
TEST(RangeInside, IsNotFooledByOverflow) {
  EXPECT_FALSE(range_inside(kMax, 1, 8));
  EXPECT_FALSE(range_inside(1, kMax, 8));
  EXPECT_FALSE(range_inside(kMax, kMax, 8));
  EXPECT_FALSE(range_inside(kMax - 3, 8, 8));
  EXPECT_FALSE(range_inside(1, kMax, kMax));
  EXPECT_FALSE(range_inside(kMax, 1, kMax));
  EXPECT_TRUE(range_inside(0, kMax, kMax));
  EXPECT_TRUE(range_inside(kMax, 0, kMax));
}

TEST(AlignUp, RoundsToTheNextMultiple) {
  static_assert(align_up(0, 16) == 0);
  static_assert(align_up(1, 16) == 16);
  static_assert(align_up(16, 16) == 16);
  static_assert(align_up(17, 16) == 32);
  static_assert(align_up(5, 1) == 5);
  EXPECT_EQ(align_up((uint64_t{1} << 32) + 1, 8), (uint64_t{1} << 32) + 8);
}

}  // namespace
}  // namespace baton
