// Counting is right with one thread, with several, and across the moment when the second one starts.
#include "base/reference_count.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace baton {
namespace {

// Run first, while the process has one thread: what was counted plainly goes on atomically.
TEST(ReferenceCount, GoesOnWhenASecondThreadStarts) {
  ReferenceCount count;
  count.up();
  std::thread([&] {
    EXPECT_FALSE(is_single_threaded());
    EXPECT_FALSE(count.down());
  }).join();
  EXPECT_FALSE(is_single_threaded());
  EXPECT_TRUE(count.down());
}

TEST(ReferenceCount, IsLostByNoThread) {
  constexpr int kTurns = 100'000;
  ReferenceCount count;
  const auto work = [&] {
    for (int i = 0; i < kTurns; ++i) {
      count.up();
      EXPECT_FALSE(count.down());
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_TRUE(count.down());
}

TEST(ReferenceCount, OnlyTheLastOneIsTold) {
  constexpr int kTurns = 2'000;
  for (int i = 0; i < kTurns; ++i) {
    ReferenceCount count(2);
    bool told_other = false;
    std::thread other([&] { told_other = count.down(); });
    const bool told_here = count.down();
    other.join();
    ASSERT_NE(told_here, told_other);
  }
}

TEST(ReferenceCount, CountsInPlacesThatItDoesNotOwn) {
  uint64_t count = 1;
  count_up(count);
  EXPECT_EQ(count, 2u);
  EXPECT_FALSE(count_down(count));
  EXPECT_TRUE(count_down(count));
}

}  // namespace
}  // namespace baton
