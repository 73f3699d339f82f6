// KeptBlocks: an owner finds its own block, others find slabs alone, and the oldest make room.
#include "hal/drivers/vulkan/kept_blocks.hpp"

#include <gtest/gtest.h>

namespace baton::hal::drivers::vulkan {
namespace {

constexpr uint64_t kMine = 1, kTheirs = 2;

class KeptBlocksTest : public ::testing::Test {
 protected:
  KeptBlocksTest() {
    for (Slab* slab : {&shared_, &other_type_}) slab->ranges = std::make_unique<MemoryRanges>(1 << 20, 256);
    other_type_.type = 1;
  }

  Slab shared_, other_type_;  // Each is divided into blocks.
  Slab large_;                // A block.
};

TEST_F(KeptBlocksTest, AnOwnerFindsItsOwnAndNobodyElseDoes) {
  KeptBlocks kept(1 << 20);
  EXPECT_TRUE(kept.keep({&shared_, 512, 4096, kMine}).empty());
  EXPECT_FALSE(kept.take(0, 4096, kTheirs));
  EXPECT_FALSE(kept.take(0, 4096, MemoryOwner::kNobody));
  EXPECT_FALSE(kept.take(1, 4096, kMine));
  const auto found = kept.take(0, 4096, kMine);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 512u);
  EXPECT_EQ(found->owner, kMine);
  EXPECT_FALSE(kept.take(0, 4096, kMine));
}

TEST_F(KeptBlocksTest, ASlabIsForAnybodyAndItsOwnerIsTold) {
  KeptBlocks kept(1 << 20);
  EXPECT_TRUE(kept.keep({&large_, 0, 4096, kMine}).empty());
  const auto found = kept.take(0, 4096, kTheirs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->owner, kMine);
}

TEST_F(KeptBlocksTest, OnesOwnGoesBeforeAnothersSlab) {
  KeptBlocks kept(1 << 20);
  kept.keep({&shared_, 0, 4096, kMine});
  kept.keep({&large_, 0, 4096, kTheirs});
  EXPECT_EQ(kept.take(0, 4096, kMine)->slab, &shared_);
  EXPECT_EQ(kept.take(0, 4096, kMine)->slab, &large_);
}

TEST_F(KeptBlocksTest, ABlockFitsThatIsLittleLarger) {
  KeptBlocks kept(uint64_t{1} << 30);
  kept.keep({&shared_, 0, 1280, kMine});
  EXPECT_FALSE(kept.take(0, 1281, kMine));
  EXPECT_FALSE(kept.take(0, 255, kMine));
  EXPECT_TRUE(kept.take(0, 256, kMine));
  kept.keep({&large_, 0, 9 << 20, kMine});
  EXPECT_FALSE(kept.take(0, (8 << 20) - 1, kMine));
  EXPECT_TRUE(kept.take(0, 8 << 20, kMine));
}

TEST_F(KeptBlocksTest, TheOldestMakeRoom) {
  KeptBlocks kept(3 * 256);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(kept.keep({&shared_, i * 256, 256, kMine}).empty());
  const auto leaving = kept.keep({&shared_, 3 * 256, 512, kMine});
  ASSERT_EQ(leaving.size(), 2u);
  EXPECT_EQ(leaving[0].offset, 0u);
  EXPECT_EQ(leaving[1].offset, 256u);
  const auto too_large = kept.keep({&large_, 0, 1024, kMine});
  ASSERT_EQ(too_large.size(), 3u);
  EXPECT_EQ(too_large[2].slab, &large_);
  EXPECT_TRUE(kept.take_all().empty());
}

TEST_F(KeptBlocksTest, ManySmallOnesMakeRoomToo) {
  KeptBlocks kept(uint64_t{1} << 30);
  size_t leaving = 0;
  for (uint64_t i = 0; i < 1000; ++i) leaving += kept.keep({&shared_, i * 256, 256, i + 1}).size();
  EXPECT_EQ(leaving + kept.take_all().size(), 1000u);
  EXPECT_GT(leaving, 0u);
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
