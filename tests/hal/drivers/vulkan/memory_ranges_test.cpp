// MemoryRanges: ranges never overlap, join their neighbours when they come back, and the smallest that fits is taken.
#include "hal/drivers/vulkan/memory_ranges.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace baton::hal::drivers::vulkan {
namespace {

TEST(MemoryRangesTest, TakesFromTheStartAndSaysWhenNothingFits) {
  MemoryRanges ranges(1024, 256);
  EXPECT_EQ(ranges.take(256), 0u);
  EXPECT_EQ(ranges.take(1), 256u);
  EXPECT_EQ(ranges.take(0), 512u);
  EXPECT_EQ(ranges.take(257), std::nullopt);
  EXPECT_EQ(ranges.take(256), 768u);
  EXPECT_EQ(ranges.take(1), std::nullopt);
  EXPECT_EQ(ranges.free_bytes(), 0u);
}

TEST(MemoryRangesTest, MoreThanThereEverIsNeverFits) {
  MemoryRanges ranges(1024, 256);
  EXPECT_EQ(ranges.take(1025), std::nullopt);
  EXPECT_EQ(ranges.take(~uint64_t{0}), std::nullopt);
  EXPECT_EQ(ranges.take(1024), 0u);
}

TEST(MemoryRangesTest, JoinsBothNeighbours) {
  MemoryRanges ranges(768, 256);
  const uint64_t a = *ranges.take(256), b = *ranges.take(256), c = *ranges.take(256);
  ranges.give(a, 256);
  ranges.give(c, 256);
  EXPECT_EQ(ranges.free_range_count(), 2u);
  EXPECT_FALSE(ranges.empty());
  ranges.give(b, 256);
  EXPECT_EQ(ranges.free_range_count(), 1u);
  EXPECT_TRUE(ranges.empty());
  EXPECT_EQ(ranges.take(768), 0u);
}

TEST(MemoryRangesTest, TheSmallestThatFitsIsTaken) {
  MemoryRanges ranges(4096, 256);
  const uint64_t large = *ranges.take(1024);
  const uint64_t wall = *ranges.take(256);
  const uint64_t small = *ranges.take(512);
  EXPECT_TRUE(ranges.take(256));
  ranges.give(large, 1024);
  ranges.give(small, 512);
  EXPECT_EQ(ranges.take(300), small);
  EXPECT_NE(wall, small);
}

// Whatever is taken and given: no two ranges share a byte, all are aligned and inside, and at the end one is left.
TEST(MemoryRangesTest, ManyComeAndGo) {
  constexpr uint64_t kLength = 64 * 1024, kGranule = 64;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    MemoryRanges ranges(kLength, kGranule);
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    std::vector<bool> used(kLength / kGranule);
    const auto mark = [&](uint64_t offset, uint64_t length, bool now) {
      for (uint64_t i = offset / kGranule; i * kGranule < offset + std::max<uint64_t>(length, 1); ++i) {
        ASSERT_NE(used[i], now);
        used[i] = now;
      }
    };
    for (int step = 0; step < 2000; ++step) {
      if (taken.empty() || random() % 5 < 3) {
        const uint64_t length = random() % 3 ? random() % 300 : random() % 9000;
        const auto offset = ranges.take(length);
        if (!offset) continue;
        ASSERT_EQ(*offset % kGranule, 0u);
        ASSERT_LE(*offset + length, kLength);
        mark(*offset, length, true);
        taken.emplace_back(*offset, length);
      } else {
        std::swap(taken[random() % taken.size()], taken.back());
        mark(taken.back().first, taken.back().second, false);
        ranges.give(taken.back().first, taken.back().second);
        taken.pop_back();
      }
    }
    for (const auto& [offset, length] : taken) ranges.give(offset, length);
    EXPECT_TRUE(ranges.empty());
    EXPECT_EQ(ranges.free_range_count(), 1u);
  }
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
