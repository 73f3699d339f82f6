// A process knows itself, and a child that was forked off knows that it is another one.
#include "hal/drivers/local/own_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace baton::hal::drivers::local {
namespace {

// What `ask` says in a child that is forked off.
template <typename Ask>
bool said_by_child(Ask ask) {
  const pid_t child = fork();
  if (child == 0) _exit(ask() ? 1 : 0);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status) == 1;
}

TEST(OwnProcessTest, EveryThreadOfTheProcessIsHere) {
  const OwnProcess process;
  EXPECT_TRUE(process.is_here());
  bool is_here = false;
  std::thread([&] { is_here = process.is_here(); }).join();
  EXPECT_TRUE(is_here);
}

TEST(OwnProcessTest, AForkedChildIsNot) {
  const OwnProcess process;
  EXPECT_FALSE(said_by_child([&] { return process.is_here(); }));
  EXPECT_FALSE(said_by_child([&] { return said_by_child([&] { return process.is_here(); }); }));
  EXPECT_TRUE(process.is_here());
}

TEST(OwnProcessTest, AChildHasItsOwn) {
  EXPECT_TRUE(said_by_child([] {
    const OwnProcess process;
    return process.is_here() && !said_by_child([&] { return process.is_here(); });
  }));
}

}  // namespace
}  // namespace baton::hal::drivers::local
