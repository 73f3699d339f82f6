// Counting is right with one thread, with several, and across the moment when the second one starts.
#include "base/reference_count.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "base/sanitizers.hpp"
#include "tests/support/death_tests.hpp"

namespace baton {
namespace {

// True when all holds that is said here.
bool goes_on_when_a_second_thread_starts() {
#if defined(BATON_KNOWS_SINGLE_THREADED) && !BATON_THREAD_SANITIZER  // Which has a thread of its own from the start.
  if (!is_single_threaded()) return false;
#endif
  ReferenceCount count;
  count.up();
  bool right_there = false;
  std::thread([&] { right_there = !is_single_threaded() && !count.down(); }).join();
  return right_there && !is_single_threaded() && count.down();
}

// In a process that begins with one thread, whatever ran before: what was counted plainly goes on atomically.
TEST(ReferenceCountDeathTest, GoesOnWhenASecondThreadStarts) {
  testing_support::end_processes_that_begin_anew();
  EXPECT_EXIT(std::_Exit(goes_on_when_a_second_thread_starts() ? 0 : 1), testing::ExitedWithCode(0), "");
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
