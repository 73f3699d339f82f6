// Goal: one thread at a time has a turn, whoever waits gets it, and a thread that has it is told so. Method: threads that
// change a plain number, in a process with one thread and with several.
#include "modules/tvm_ffi/turn.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace baton::modules::tvm_ffi {
namespace {

TEST(TurnTest, IsTakenOnce) {
  Turn turn;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(turn.take());
    EXPECT_FALSE(turn.take());
    turn.give_back();
  }
}

TEST(TurnTest, IsGivenBackAfterTheFirstThreadStarts) {
  Turn turn;
  ASSERT_TRUE(turn.take());
  std::thread other([&] {
    EXPECT_TRUE(turn.take());
    EXPECT_FALSE(turn.take());
    turn.give_back();
  });
  EXPECT_FALSE(turn.take());
  turn.give_back();
  other.join();
  EXPECT_TRUE(turn.take());
  turn.give_back();
}

TEST(TurnTest, ThreadsTakeTurns) {
  constexpr int kThreads = 4, kTurns = 2000;
  Turn turn;
  int64_t plain = 0;  // Whoever has the turn has this.
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kTurns; ++n) {
        EXPECT_TRUE(turn.take());
        ++plain;
        if (n % 100 == 0) std::this_thread::yield();  // So that others come to wait.
        turn.give_back();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(plain, int64_t{kThreads} * kTurns);
}

}  // namespace
}  // namespace baton::modules::tvm_ffi
