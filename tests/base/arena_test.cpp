// An arena aligns, never overlaps what it gave, and gives its blocks back for the next one.
#include "base/arena.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace baton {
namespace {

// An allocator that counts what it gave and did not get back.
struct Counting {
  int given = 0;
  int live = 0;
};
Allocator counting(Counting& counts) {
  return {.self = &counts,
          .allocate_bytes =
              [](void* self, size_t size, size_t alignment, int zeroed) {
                auto* mine = static_cast<Counting*>(self);
                ++mine->given;
                ++mine->live;
                return system_allocator().allocate_bytes(system_allocator().self, size, alignment, zeroed);
              },
          .free_bytes =
              [](void* self, void* memory) {
                --static_cast<Counting*>(self)->live;
                system_allocator().free(memory);
              }};
}

TEST(Arena, AlignsAndDoesNotOverlap) {
  BlockPool pool;
  Arena arena(pool);
  uintptr_t end = 0;
  for (const size_t alignment : {1u, 2u, 8u, 16u, 64u}) {
    for (const size_t size : {1u, 7u, 64u, 1000u}) {
      const auto start = reinterpret_cast<uintptr_t>(arena.allocate(size, alignment));
      EXPECT_EQ(start % alignment, 0u);
      EXPECT_GE(start, end) << "the first block holds all of this, in order";
      end = start + size;
    }
  }
}

TEST(Arena, TakesWhatIsLargerThanABlock) {
  BlockPool pool;
  Arena arena(pool);
  auto* large = static_cast<std::byte*>(arena.allocate(1'000'000, 64));
  std::memset(large, 1, 1'000'000);
  auto* next = static_cast<std::byte*>(arena.allocate(64));
  EXPECT_TRUE(next + 64 <= large || next >= large + 1'000'000);
}

TEST(Arena, CopiesAndConstructs) {
  BlockPool pool;
  Arena arena(pool);
  const std::vector<int> source = {1, 2, 3};
  const std::span<const int> copied = arena.copy(std::span<const int>(source));
  EXPECT_EQ(std::vector<int>(copied.begin(), copied.end()), source);
  EXPECT_NE(copied.data(), source.data());
  EXPECT_TRUE(arena.copy(std::span<const int>()).empty());
  EXPECT_EQ(*arena.make<int>(7), 7);
}

TEST(BlockPool, SteadyStateAllocatesNothing) {
  Counting counts;
  {
    BlockPool pool(counting(counts));
    for (int round = 0; round < 10; ++round) {
      Arena arena(pool);
      for (int i = 0; i < 1000; ++i) arena.allocate(64);  // two blocks' worth
    }
    EXPECT_EQ(counts.given, 2);
  }
  EXPECT_EQ(counts.live, 0);
}

TEST(BlockPool, FreesWhatIsOfUnusualSize) {
  Counting counts;
  BlockPool pool(counting(counts));
  { Arena(pool).allocate(1'000'000); }
  EXPECT_EQ(counts.given, 1);
  EXPECT_EQ(counts.live, 0);
}

TEST(ArenaList, KeepsItsOrder) {
  BlockPool pool;
  Arena arena(pool);
  ArenaList<int> list;
  for (int i = 0; i < 100; ++i) list.push(arena, i);
  EXPECT_EQ(list.size(), 100u);
  int next = 0;
  list.for_each([&](int item) { EXPECT_EQ(item, next++); });
  EXPECT_EQ(next, 100);
}

}  // namespace
}  // namespace baton
