// What buffers of the host begin with: what their owner left in them, or zeros.
#include "hal/drivers/common/host_allocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace baton::hal {
namespace {

constexpr uint64_t kLength = 1 << 20;
constexpr int kMark = 0x5a;

struct HostAllocatorTest : testing::Test {
  // A buffer of `owner`; says how many of its bytes are marked, marks all, and lets it go.
  uint64_t marked_before(uint64_t owner, uint64_t length = kLength) {
    const MemoryOwner on_behalf(owner);
    const Ref<Buffer> buffer = allocator.allocate({.length = length}).value();
    std::byte* const data = host_data(*buffer);
    const auto marked = static_cast<uint64_t>(std::count(data, data + length, std::byte{kMark}));
    const auto zero = static_cast<uint64_t>(std::count(data, data + length, std::byte{0}));
    EXPECT_EQ(marked + zero, length);
    std::memset(data, kMark, length);
    return marked;
  }

  HostAllocator allocator{system_allocator(), uint64_t{1} << 40};
};

TEST_F(HostAllocatorTest, AnOwnerHasItsOwnMemoryBack) {
  EXPECT_EQ(marked_before(1), 0u);
  EXPECT_EQ(marked_before(1), kLength);
}

TEST_F(HostAllocatorTest, OthersGetZeros) {
  EXPECT_EQ(marked_before(1), 0u);
  EXPECT_EQ(marked_before(2), 0u);
  EXPECT_EQ(marked_before(MemoryOwner::kNobody), 0u);
  EXPECT_EQ(marked_before(MemoryOwner::kNobody), 0u);
  EXPECT_EQ(marked_before(3), 0u);
  EXPECT_EQ(marked_before(2), kLength);
}

TEST_F(HostAllocatorTest, SmallBuffersAreZeroForTheirOwnerToo) {
  EXPECT_EQ(marked_before(1, 4096), 0u);
  EXPECT_EQ(marked_before(1, 4096), 0u);
}

TEST_F(HostAllocatorTest, ABlockOfAnotherSizeIsTakenWhereItFits) {
  EXPECT_EQ(marked_before(1), 0u);
  EXPECT_EQ(marked_before(1, kLength / 2 + 4096), kLength / 2 + 4096);
  EXPECT_EQ(marked_before(1, kLength / 4), 0u);
  EXPECT_EQ(marked_before(1, 4 * kLength), 0u);
}

TEST_F(HostAllocatorTest, AnOwnerInsideAnotherEndsWithIt) {
  const MemoryOwner outer(7);
  {
    const MemoryOwner inner(8);
    EXPECT_EQ(MemoryOwner::current(), 8u);
  }
  EXPECT_EQ(MemoryOwner::current(), 7u);
}

// What the allocator under a FreedBlocks was asked to free.
struct Freed {
  uint64_t count = 0;
  baton::Allocator memory{this, nullptr, [](void* self, void*) { ++static_cast<Freed*>(self)->count; }};
};

TEST(FreedBlocksTest, KeepSoManyAndSoMuch) {
  Freed freed;
  std::byte place;
  {
    FreedBlocks blocks(freed.memory);
    for (int i = 0; i < 20; ++i) blocks.keep({&place, FreedBlocks::kBytesMin, 1});
    EXPECT_EQ(freed.count, 4u);
    blocks.keep({&place, FreedBlocks::kBytesMax + 1, 1});
    EXPECT_EQ(freed.count, 5u);
    blocks.keep({&place, FreedBlocks::kBytesMax, 1});
    EXPECT_EQ(freed.count, 21u);
    EXPECT_EQ(blocks.take(2, FreedBlocks::kBytesMax).memory, nullptr);
    EXPECT_EQ(blocks.take(1, FreedBlocks::kBytesMin).memory, nullptr);
    EXPECT_EQ(blocks.take(1, FreedBlocks::kBytesMax).memory, &place);
    blocks.keep({&place, FreedBlocks::kBytesMin, 1});
  }
  EXPECT_EQ(freed.count, 22u);
}

}  // namespace
}  // namespace baton::hal
