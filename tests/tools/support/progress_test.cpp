// A terminal sees a line while work takes long, and the line goes with the work; anything else sees nothing.
#include "tools/support/progress.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

namespace baton::tools {
namespace {

using std::chrono::milliseconds;

// What comes within ten seconds, until it ends as wanted.
std::string read_until(int descriptor, std::string_view end) {
  std::string seen;
  pollfd waits{descriptor, POLLIN, 0};
  while (!seen.ends_with(end) && poll(&waits, 1, 10'000) > 0 && (waits.revents & POLLIN)) {
    char bytes[256];
    const ssize_t count = read(descriptor, bytes, sizeof(bytes));
    if (count <= 0) break;
    seen.append(bytes, static_cast<size_t>(count));
  }
  return seen;
}

TEST(ProgressTest, TerminalsSeeALineThatGoes) {
  const int person = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(person, 0);
  ASSERT_EQ(grantpt(person) | unlockpt(person), 0);
  const int terminal = open(ptsname(person), O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  {
    Progress progress("tool", terminal, milliseconds(1));
    progress.begin("load");
    EXPECT_THAT(read_until(person, " s"), testing::MatchesRegex("\r\033\\[Ktool: load, [0-9]+ s"));
    progress.begin("");
    EXPECT_THAT(read_until(person, "\r\033[K"),
                testing::EndsWith("\r\033[K"));  // More lines before it on a slow machine.
  }
  {
    Progress progress("tool", terminal, std::chrono::hours(1));
    progress.begin("load");
  }
  ASSERT_EQ(write(terminal, "x", 1), 1);
  EXPECT_EQ(read_until(person, "x"), "x") << "short work draws nothing";
  close(terminal);
  close(person);
}

TEST(ProgressTest, PipesSeeNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    Progress progress("tool", ends[1], milliseconds(0));
    progress.begin("load");
  }
  close(ends[1]);
  EXPECT_EQ(read_until(ends[0], "?"), "");
  close(ends[0]);
}

}  // namespace
}  // namespace baton::tools
